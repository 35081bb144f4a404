#pragma once

#include <memory>
#include <string>

#include "cli/backend.h"
#include "cli/context.h"
#include "cli/local_launch.h"
#include "cli/port_range.h"
#include "cli/run_options.h"
#include "job/spec.h"

namespace gangrun::cli {

// What has been settled before anything is started.
struct RunPlan {
  job::JobSpec spec;
  std::string home;
  LocalLaunch launch;
  PortRange ports;                     // where its registry is served
  std::unique_ptr<Backend> backend{};  // where its tasks run
};

// Starts the job with its master in this very process, shows it and waits for its end.
ExitStatus run_job(RunPlan plan, const RunOptions& options, Context& context);

}  // namespace gangrun::cli
