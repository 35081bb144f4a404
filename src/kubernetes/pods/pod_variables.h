#pragma once

#include <map>
#include <string>

#include "base/result.h"
#include "job/cluster_spec.h"
#include "job/task_id.h"
#include "kubernetes/pods/manifests.h"

namespace gangrun::kubernetes::pods {

// The variables of a task's run, as no agent makes them: those of the frameworks, then what the
// user set; but GANGRUN_* are ours. A cluster spec that no variable can hold is left out.
base::Result<std::map<std::string, std::string>> pod_variables(const Manifests& manifests,
                                                               const job::ClusterSpec& cluster_spec,
                                                               const job::TaskId& task,
                                                               int restarts);

}  // namespace gangrun::kubernetes::pods
