#include "agents/agent_launch.h"

#include "cluster/task_files.h"

namespace gangrun::agents {

wire::AgentConfig agent_config_of(const AgentLaunch& launch, const job::TaskId& task, int attempt,
                                  std::uint16_t tls_port) {
  wire::AgentConfig config;
  config.spec = launch.spec;
  config.job_id = launch.job_id;
  config.task = task;
  config.attempt = attempt;
  config.is_fed = launch.are_fed;
  config.is_called_by_network = launch.are_called_by_network;
  config.serves_tunnels = launch.are_away;
  config.sends_last_line_only = launch.are_away && launch.lines == LinesFor::kNobody;
  config.secret = launch.secret;
  config.host = launch.host;
  config.host_reason = launch.host_reason;
  config.socket_path = launch.socket_path;
  if (launch.socket_path.empty()) {
    // The place knows the address.
    config.master_port = tls_port;
    config.fingerprint = launch.fingerprint;
  }
  config.working_folder = launch.working_folder;
  config.log_prefix = cluster::log_prefix(launch.log_folder, task);
  return config;
}

}  // namespace gangrun::agents
