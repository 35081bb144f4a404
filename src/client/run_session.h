#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "client/context.h"
#include "client/place.h"
#include "client/run_options.h"
#include "host/backend.h"
#include "host/local_launch.h"
#include "host/port_range.h"
#include "job/spec.h"
#include "mirror/zookeeper_files.h"

// Jobs whose master is on this machine.
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

// The own flags of places with such jobs.
std::vector<OwnFlag> hosting_flags();

// Home, host, ports and working folder of such a job. What only its place knows is not in it yet.
base::Result<RunPlan> hosted_plan(job::JobSpec spec, const RunOptions& options,
                                  const Context& context);

// Shows what --dry-run says of it.
ExitStatus show_plan(const RunPlan& run, const RunOptions& options, Context& context);

// Starts the job with its master in this very process, shows it and waits for its end.
ExitStatus run_job(RunPlan plan, const RunOptions& options, Context& context);

// Submits a job whose master is a process of its own, and returns as soon as that has asked for its
// tasks, or could not.
ExitStatus run_detached(const RunPlan& plan, const RunOptions& options, Context& context);

}  // namespace gangrun::client
