#pragma once

#include <optional>
#include <string>

#include "cli/context.h"
#include "cli/local_launch.h"
#include "cli/port_range.h"
#include "cli/run_options.h"
#include "cluster/kubernetes/manifests.h"
#include "job/spec.h"
#include "kubernetes/access.h"

namespace gangrun::cli {

// What has been settled before anything is started.
struct RunPlan {
  job::JobSpec spec;
  std::string home;
  LocalLaunch launch;
  PortRange ports;  // where its registry is served
  // Where the tasks are pods: their cluster, and what is made there but for the job's id.
  std::optional<kubernetes::Access> kubernetes{};
  std::optional<cluster::ManifestInput> manifests{};
};

// Starts the job with its master in this very process, shows it and waits for its end.
ExitStatus run_job(RunPlan plan, const RunOptions& options, Context& context);

}  // namespace gangrun::cli
