#include "host/backend.h"

namespace gangrun::host {

agents::AgentsOptions agents_options(const BackendInput& input) {
  const JobPaths& paths = input.folder.paths();
  agents::AgentsOptions options;
  options.launch = {.spec = input.spec,
                    .job_id = input.folder.id(),
                    .secret = input.folder.secret(),
                    .host = input.launch.host,
                    .host_reason = input.launch.host_reason,
                    .socket_path = paths.socket(),
                    .fingerprint = {},
                    .working_folder = input.launch.working_folder,
                    .log_folder = paths.logs()};
  options.records = input.ground.task_records;
  return options;
}

agents::AgentsOptions agents_by_tls(const BackendInput& input) {
  agents::AgentsOptions options = agents_options(input);
  options.launch.socket_path.clear();
  options.launch.fingerprint = input.folder.certificate().fingerprint;
  return options;
}

std::vector<std::string> remarks_of(const LocalLaunch& launch) {
  if (launch.remark.empty()) return {};
  return {launch.remark};
}

}  // namespace gangrun::host
