#pragma once

#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "cluster/kubernetes/manifests.h"

namespace gangrun::client {

// The pods of all tasks as they are when the job begins, with all their variables.
base::Result<std::vector<base::Json>> first_pods(const cluster::Manifests& manifests,
                                                 const cluster::Owner& owner);

// The cluster spec that they are given: known before any of them runs.
job::ClusterSpec first_cluster_spec(const cluster::Manifests& manifests);

}  // namespace gangrun::client
