#pragma once

#include "base/clock.h"
#include "base/log.h"
#include "kubernetes/node/pod_master_options.h"

namespace gangrun::kubernetes::node {

// The master of a detached job, as the first process of a pod. Returns the status of the program: 0
// when the job has ended and all of it was kept for as long as it says, or when none will ever lead
// it; else another master of the job goes on.
int run_pod_master(const PodMasterOptions& options, const base::Clock& clock, base::Logger& logger);

}  // namespace gangrun::kubernetes::node
