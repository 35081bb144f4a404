#pragma once

#include <string>

#include "base/clock.h"
#include "base/log.h"
#include "base/result.h"

namespace gangrun::kubernetes::node {

struct PodMasterOptions {
  std::string config_folder;  // the master's Secret
  std::string run_folder;     // its own; what an earlier master of this pod left is in it
};

// From the arguments of "gangrun-agent pod-master".
base::Result<PodMasterOptions> pod_master_options_from(int argc, char** argv);

// The master of a detached job, as the first process of a pod. Returns the status of the program: 0
// when the job has ended and all of it was kept for as long as it says; else another master of the
// job goes on.
int run_pod_master(const PodMasterOptions& options, const base::Clock& clock, base::Logger& logger);

}  // namespace gangrun::kubernetes::node
