#pragma once

#include <string>

#include "base/json.h"
#include "base/result.h"
#include "job/spec.h"
#include "kubernetes/pods/kubernetes_options.h"

// The user's own pods, or parts of them, that the job's are made from.
namespace gangrun::kubernetes::pods {

// Beside the task's container: they share its working folder, or put its files together.
inline constexpr const char* kFilesContainer = "gangrun-files";
// Volumes of ours begin so.
inline constexpr const char* kOurVolumes = "gangrun-";

// Whether `json` is a pod, or the metadata and spec of one, from which a task's pod can be made;
// `field` is where it stands in the job. What it says of names is left to the job; what would
// break the job's life cycle is refused: another restart policy, host name, finalizers.
base::Result<> check_pod_template(const base::Json& json, const std::string& field,
                                  const std::string& name_space);

// The same for the parts of pods that a job names by themselves: volumes, mounts, tolerations.
base::Result<> check_pod_options(const KubernetesOptions& options);

// `patch` over `base`, as Kubernetes' strategic merge does it: mappings by key, null removes,
// lists whose items have a name by that name, other lists replaced. Tolerations and required
// affinity terms of both are kept. Both are pods that were checked, or ours.
void merge_pod(base::Json& base, const base::Json& patch);

// The job's template with the type's over it: labels, annotations and spec; an empty pod where
// there is none.
base::Json template_of(const job::JobSpec& spec, const job::TaskSpec& task);

// The container of a pod that runs the task: "task", or else the first; "task" where there are
// none.
std::string task_container(const base::Json& pod);
// Null where `pod` has none of that name.
const base::Json* find_container(const base::Json& pod, const std::string& name);

}  // namespace gangrun::kubernetes::pods
