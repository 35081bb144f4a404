#pragma once

#include <string>

#include "base/json.h"
#include "kubernetes/pods/manifests.h"

namespace gangrun::kubernetes::pods {

// The pod of one run of a task: the user's template with what the job says over it. Its container
// of outputs waits until it is told to end, at most as long as the job may last: it cannot see
// when the task's has ended, and where no client tells it the owner's deadline does.
base::Json pod_manifest(const ManifestInput& input, const CarriedLayout& layout,
                        const std::vector<SharedHosts>& hosts, const job::TaskId& task,
                        const PodRun& run, const Owner& owner);

// `text` so that Kubernetes, which replaces $(NAME) in commands and variables, leaves it as it is.
std::string without_references(std::string_view text);

}  // namespace gangrun::kubernetes::pods
