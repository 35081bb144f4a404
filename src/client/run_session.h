#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "client/context.h"
#include "client/run_options.h"
#include "host/backend.h"
#include "host/local_launch.h"
#include "host/port_range.h"
#include "job/spec.h"
#include "mirror/zookeeper_files.h"

namespace gangrun::client {

// All that has been settled before anything is started.
struct RunPlan {
  job::JobSpec spec;
  std::string home;
  host::LocalLaunch launch;
  host::PortRange ports;                     // where its registry is served
  std::unique_ptr<host::Backend> backend{};  // where its tasks run
  // Lines of a plan that only its place has to say, with a name each.
  std::vector<std::pair<std::string, std::string>> more{};
  mirror::ZooKeeperFiles zookeeper_files{};  // secrets among them
  std::string where_tasks_work{};            // in a plan, where that is not the client's folder
};

// Starts the job with its master in this very process, shows it and waits for its end.
ExitStatus run_job(RunPlan plan, const RunOptions& options, Context& context);

}  // namespace gangrun::client
