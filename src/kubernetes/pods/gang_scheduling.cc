#include "kubernetes/pods/gang_scheduling.h"

#include <algorithm>

#include "base/format.h"
#include "kubernetes/pods/kubernetes_options.h"
#include "kubernetes/pods/names.h"

namespace gangrun::kubernetes::pods {
namespace {

using base::Json;

constexpr const char* kVolcano = "volcano";
constexpr const char* kPodGroup = "gang";  // of the Workload

Json volcano_group(const ManifestInput& input, const Owner& owner) {
  const KubernetesOptions& options = kubernetes_of(input.spec);
  Json group =
      object_of(input, "scheduling.volcano.sh/v1beta1", "PodGroup", job_name(input), owner);
  Json& spec = group["spec"] = {{"minMember", gang_of(input.spec).size()}};
  if (!options.queue.empty()) spec["queue"] = options.queue;
  if (!options.priority_class.empty()) spec["priorityClassName"] = options.priority_class;
  return group;
}

Json workload(const ManifestInput& input, const Owner& owner) {
  Json group = {{"name", kPodGroup},
                {"policy", {{"gang", {{"minCount", gang_of(input.spec).size()}}}}}};
  Json load = object_of(input, "scheduling.k8s.io/v1alpha1", "Workload", job_name(input), owner);
  load["spec"]["podGroups"] = Json::array({std::move(group)});
  return load;
}

void join_kueue(const ManifestInput& input, bool is_needed, Json& metadata) {
  metadata["labels"]["kueue.x-k8s.io/queue-name"] = kubernetes_of(input.spec).queue;
  if (!is_needed) return;
  metadata["labels"]["kueue.x-k8s.io/pod-group-name"] = job_name(input);
  metadata["annotations"]["kueue.x-k8s.io/pod-group-total-count"] =
      base::format("{}", gang_of(input.spec).size());
}

void join_volcano(const ManifestInput& input, bool is_needed, Json& pod) {
  const std::string& queue = kubernetes_of(input.spec).queue;
  Json& annotations = pod["metadata"]["annotations"];
  if (is_needed) {
    annotations["scheduling.k8s.io/group-name"] = job_name(input);
  } else if (!queue.empty()) {
    annotations["scheduling.volcano.sh/queue-name"] = queue;
  }
  pod["spec"]["schedulerName"] = kVolcano;
}

}  // namespace

std::vector<job::TaskId> gang_of(const job::JobSpec& spec) {
  std::vector<job::TaskId> gang;
  for (const job::TaskSpec& task : spec.tasks) {
    if (job::effective_policy(spec, task) == job::Policy::kSidecar) continue;
    for (int index = 0; index < task.needed(); ++index) gang.push_back({task.type, index});
  }
  return gang;
}

base::Result<> check_gang_scheduling(const ManifestInput& input) {
  if (input.gang_scheduling == GangScheduling::kKueue && kubernetes_of(input.spec).queue.empty()) {
    return base::invalid_argument(
        "kubernetes.queue: is empty; Kueue needs the name of a LocalQueue of the namespace");
  }
  return {};
}

std::optional<Json> gang_object(const ManifestInput& input, const Owner& owner) {
  if (gang_of(input.spec).empty()) return std::nullopt;
  switch (input.gang_scheduling) {
    case GangScheduling::kVolcano: return volcano_group(input, owner);
    case GangScheduling::kWorkload: return workload(input, owner);
    case GangScheduling::kAuto:
    case GangScheduling::kKueue:
    case GangScheduling::kHold: return std::nullopt;
  }
  return std::nullopt;
}

void join_gang(const ManifestInput& input, const job::TaskId& task, Json& pod) {
  const std::vector<job::TaskId> gang = gang_of(input.spec);
  const bool is_needed = std::ranges::find(gang, task) != gang.end();
  switch (input.gang_scheduling) {
    case GangScheduling::kKueue: join_kueue(input, is_needed, pod["metadata"]); break;
    case GangScheduling::kVolcano: join_volcano(input, is_needed, pod); break;
    case GangScheduling::kWorkload:
      if (!is_needed) break;
      pod["spec"]["workloadRef"] = {{"name", job_name(input)}, {"podGroup", kPodGroup}};
      break;
    case GangScheduling::kAuto:
    case GangScheduling::kHold: break;
  }
}

}  // namespace gangrun::kubernetes::pods
