#pragma once

#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "kubernetes/pods/manifests.h"

namespace gangrun::kubernetes::commands {

// The pods of all tasks as they are when the job begins, with all their variables.
base::Result<std::vector<base::Json>> first_pods(const pods::Manifests& manifests,
                                                 const pods::Owner& owner);

// The cluster spec that they are given: known before any of them runs.
job::ClusterSpec first_cluster_spec(const pods::Manifests& manifests);

}  // namespace gangrun::kubernetes::commands
