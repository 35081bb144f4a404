#include "master/agent_launch.h"

#include "base/format.h"

namespace gangrun::master {

std::string log_prefix_of(const Settings& settings, const job::TaskId& task) {
  return base::format("{}/{}-{}", settings.log_folder, task.type, task.index);
}

registry::AgentConfig agent_config_of(const Settings& settings, const job::TaskId& task,
                                      int attempt, std::uint16_t tls_port) {
  registry::AgentConfig config;
  config.spec = settings.spec;
  config.job_id = settings.job_id;
  config.task = task;
  config.attempt = attempt;
  config.is_fed = settings.joining != nullptr;
  config.serves_tunnels = settings.tasks_are_away;
  // From elsewhere the place itself brings the logs.
  config.sends_last_line_only =
      settings.tasks_are_away && !settings.keeps_lines && !settings.writes_lines;
  config.secret = settings.secret;
  config.host = settings.host;
  config.host_reason = settings.host_reason;
  if (!settings.agents_come_by_tls) {
    config.socket_path = settings.socket_path;
  } else {
    // By which address is the cluster's knowledge.
    config.master_port = tls_port;
    config.fingerprint = settings.certificate->fingerprint;
  }
  config.working_folder = settings.working_folder;
  config.log_prefix = log_prefix_of(settings, task);
  return config;
}

}  // namespace gangrun::master
