#include "kubernetes/commands/first_pods.h"

#include <utility>

#include "kubernetes/pods/pod_variables.h"

namespace gangrun::kubernetes::commands {

job::ClusterSpec first_cluster_spec(const pods::Manifests& manifests) {
  job::ClusterSpec cluster;
  cluster.generation = 1;
  for (const job::TaskSpec& task : manifests.input().spec.tasks) {
    if (job::effective_policy(manifests.input().spec, task) == job::Policy::kSidecar) continue;
    for (int index = 0; index < task.instances; ++index) {
      cluster.tasks[task.type].push_back(manifests.address_of({task.type, index}));
    }
  }
  return cluster;
}

base::Result<std::vector<base::Json>> first_pods(const pods::Manifests& manifests,
                                                 const pods::Owner& owner) {
  const pods::ManifestInput& input = manifests.input();
  const job::ClusterSpec cluster = first_cluster_spec(manifests);
  std::vector<base::Json> pods;
  for (const job::TaskId& task : input.spec.task_ids()) {
    GANGRUN_ASSIGN(auto variables, pods::pod_variables(manifests, cluster, task, 0));
    pods.push_back(manifests.pod(task, {1, 1, [&variables] { return variables; }}, owner));
  }
  return pods;
}

}  // namespace gangrun::kubernetes::commands
