#include "kubernetes/commands/first_pods.h"

#include <set>
#include <string>
#include <utility>

#include "base/format.h"
#include "kubernetes/pods/errands.h"
#include "kubernetes/pods/pod_run.h"

namespace gangrun::kubernetes::commands {

base::Result<std::vector<base::Json>> first_pods(const pods::Manifests& manifests,
                                                 const pods::Owner& owner) {
  const pods::ManifestInput& input = manifests.input();
  const job::ClusterSpec cluster = pods::cluster_of_names(manifests);
  std::vector<base::Json> pods;
  for (const job::TaskId& task : input.spec.task_ids()) {
    GANGRUN_ASSIGN(auto variables, pods::pod_variables(manifests, cluster, task, 0));
    pods.push_back(manifests.pod(task, {1, 1, [&variables] { return variables; }}, owner));
  }
  return pods;
}

base::Result<> try_pods(net::EventLoop& loop, kubernetes::Client& client,
                        const pods::Manifests& manifests, base::Instant deadline) {
  GANGRUN_ASSIGN(std::vector<base::Json> pods, first_pods(manifests, pods::Owner{}));
  std::set<std::string> tried;  // task types
  for (base::Json& pod : pods) {
    base::Json& metadata = pod["metadata"];
    if (!tried.insert(metadata["labels"].value(pods::kTypeLabel, "")).second) continue;
    metadata.erase("ownerReferences");  // the owner is not there either
    kubernetes::Request request{.method = "POST",
                                .path = pods::collection_path(pod, manifests.input().name_space),
                                .query = {{"dryRun", "All"}, kubernetes::kStrictFields},
                                .body = pod,
                                .patience = base::Duration::zero()};
    const auto answer = kubernetes::ask(loop, client, std::move(request), deadline);
    if (!answer.ok()) {
      return answer.error().context(base::format("{} cannot be made", pods::words_of_object(pod)));
    }
  }
  return {};
}

}  // namespace gangrun::kubernetes::commands
