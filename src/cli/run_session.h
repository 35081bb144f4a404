#pragma once

#include <string>

#include "cli/context.h"
#include "cli/run_options.h"
#include "job/spec.h"

namespace gangrun::cli {

// What has been settled before anything is started.
struct RunPlan {
  job::JobSpec spec;
  std::string home;
  std::string agent_program;
  std::string host;
  std::vector<int> gpus;
  job::Containment containment = job::Containment::kSubreaper;
};

// Starts the job with its master in this very process, shows it and waits for its end.
ExitStatus run_job(RunPlan plan, const RunOptions& options, Context& context);

}  // namespace gangrun::cli
