#pragma once

#include <optional>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "job/spec.h"
#include "job/task_id.h"
#include "kubernetes/pods/manifests.h"

// Tells schedulers that the pods of a gang get their nodes all or none. The names are those of
// Kueue's "plain pods", Volcano's PodGroup and Kubernetes' own Workload (KEP-4671).
namespace gangrun::kubernetes::pods {

// The tasks that must all have a node: of every type but sidecars as many as it needs, the first.
std::vector<job::TaskId> gang_of(const job::JobSpec& spec);
// Fails if something that the chosen way needs is not there, or cannot be done.
base::Result<> check_gang_scheduling(const ManifestInput& input);
// The object that stands for the gang; none where labels are enough or nothing is told.
std::optional<base::Json> gang_object(const ManifestInput& input, const Owner& owner);
// Makes the pod of `task` one of its gang; one that the gang can do without only goes the same way.
void join_gang(const ManifestInput& input, const job::TaskId& task, base::Json& pod);

}  // namespace gangrun::kubernetes::pods
