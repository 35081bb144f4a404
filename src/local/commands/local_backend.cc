#include "local/commands/local_backend.h"

#include <string>
#include <utility>

#include "local/gpu_locks.h"
#include "local/local_launcher.h"
#include "net/hosts.h"

namespace gangrun::local::commands {

namespace {

using base::Result;

// Tasks that outlive their master, or have a network between them and it, go on alone for so long
// by default.
constexpr std::chrono::seconds kDefaultMasterLost(60);

Result<local::LocalLauncher::Options> cluster_options(const host::BackendInput& input) {
  local::LocalLauncher::Options result;
  result.agent_program = input.launch.agent_program;
  result.host = input.launch.host;
  result.gpus = input.launch.gpus;
  if (!input.launch.gpus.list.empty()) {
    GANGRUN_ASSIGN(result.gpu_lock_folder, local::gpu_lock_folder());
  }
  result.agent_log = input.folder.paths().master_log();
  result.job_id = input.folder.id();
  result.containment = input.launch.containment;
  result.agents_outlive_us = input.tasks_outlive_us;
  result.starter_socket = input.folder.paths().starter_socket();
  result.hosts = input.spec.hosts;
  result.interface = input.spec.interface;
  const std::string& host = input.launch.host;
  if (!net::is_loopback_address(host)) result.master_address = host;
  return result;
}

}  // namespace

std::chrono::milliseconds LocalBackend::master_lost(const job::JobSpec& spec,
                                                    bool tasks_outlive_us) const {
  const bool go_on = tasks_outlive_us || !spec.hosts.empty();
  return go_on ? kDefaultMasterLost : std::chrono::milliseconds(0);
}

Result<host::MadeTasks> LocalBackend::make_tasks(const host::BackendInput& input) {
  GANGRUN_ASSIGN(auto cluster, cluster_options(input));
  const bool by_tls = !input.spec.hosts.empty();
  const host::Ground& ground = input.ground;
  return host::MadeTasks{
      .tasks = std::make_unique<agents::Agents>(
          ground.loop, ground.clock, ground.logger, ground.server,
          std::make_unique<local::LocalLauncher>(ground.loop, std::move(cluster)),
          by_tls ? host::agents_by_tls(input) : host::agents_options(input)),
      .come_by_tls = by_tls,
      .remarks = host::remarks_of(input.launch)};
}

}  // namespace gangrun::local::commands
