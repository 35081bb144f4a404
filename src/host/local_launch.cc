#include "host/local_launch.h"

#include "job/choice.h"
#include "job/json_text.h"
#include "job/spec_names.h"
#include "net/hosts.h"

namespace gangrun::host {

std::string listen_address_of(const LocalLaunch& launch, bool other_hosts) {
  if (launch.serve_tls && launch.host_reason == kDefaultAddressReason) return {};
  if (other_hosts && net::is_loopback_address(launch.host)) return {};
  return net::is_numeric_address(launch.host) ? launch.host : std::string();
}

base::Json to_json(const LocalLaunch& launch) {
  return {{"agent_program", launch.agent_program},
          {"working_folder", launch.working_folder},
          {"host", launch.host},
          {"host_reason", launch.host_reason},
          {"gpus", job::to_json(launch.gpus)},
          {"containment", job::to_string(launch.containment)},
          {"serve_tls", launch.serve_tls},
          {"verbose", launch.verbose},
          {"remark", job::json_text(launch.remark)}};
}

base::Result<LocalLaunch> local_launch_from_json(const base::Json& json) {
  LocalLaunch launch;
  GANGRUN_ASSIGN(launch.agent_program, base::json_member<std::string>(json, "agent_program"));
  GANGRUN_ASSIGN(launch.working_folder, base::json_member<std::string>(json, "working_folder"));
  GANGRUN_ASSIGN(launch.host, base::json_member<std::string>(json, "host"));
  GANGRUN_ASSIGN(launch.host_reason, base::json_member<std::string>(json, "host_reason"));
  GANGRUN_ASSIGN(launch.gpus,
                 job::gpus_from_json(json.value("gpus", base::Json())).context("\"gpus\""));
  GANGRUN_ASSIGN(const auto containment, base::json_member<std::string>(json, "containment"));
  GANGRUN_ASSIGN(launch.containment, job::choice_from<job::Containment>(containment));
  GANGRUN_ASSIGN(launch.serve_tls, base::json_member<bool>(json, "serve_tls"));
  GANGRUN_ASSIGN(launch.verbose, base::json_member<bool>(json, "verbose"));
  // Earlier versions had none.
  if (json.contains("remark")) {
    GANGRUN_ASSIGN(launch.remark, base::json_member<std::string>(json, "remark"));
  }
  return launch;
}

}  // namespace gangrun::host
