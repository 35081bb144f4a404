#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "job/problem.h"
#include "job/spec.h"

// What of a job Kubernetes takes, as far as that can be said without a cluster.
namespace gangrun::job {

// Of a pod that others find by its name, and of a label's value.
inline constexpr std::size_t kMaxPodNameBytes = 63;
// By which a job's id is longer than its name: "-20260131-120000-3fa1".
inline constexpr std::size_t kJobTagBytes = 21;

// A job's name or a task type as a part of the names of objects: in lower case, '_' and '.' as '-',
// with "job-" in front where it begins with a digit. "Data_Server" is data-server.
std::string kubernetes_name(std::string_view name);

Found check_kubernetes(const KubernetesOptions& kubernetes);

// Whether its outermost members are those of a pod; null is none.
Found check_pod(const base::Json& pod, const std::string& path);

// JobSpec::outputs or TaskSpec::outputs.
Found check_outputs(const std::vector<std::string>& outputs, const std::string& path);

// What a job with this place has that pods do not, or lacks that they need.
Found check_on_kubernetes(const JobSpec& job);

}  // namespace gangrun::job
