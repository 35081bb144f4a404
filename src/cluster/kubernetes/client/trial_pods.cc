#include "cluster/kubernetes/client/trial_pods.h"

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/format.h"
#include "base/json.h"
#include "cluster/kubernetes/client/first_pods.h"
#include "cluster/kubernetes/errands.h"
#include "cluster/kubernetes/job_objects.h"

namespace gangrun::client {

using base::Json;
using base::Result;

Result<> try_pods(net::EventLoop& loop, kubernetes::Client& client,
                  const cluster::Manifests& manifests, base::Instant deadline) {
  GANGRUN_ASSIGN(std::vector<Json> pods, first_pods(manifests, cluster::Owner{}));
  std::set<std::string> tried;  // task types
  for (Json& pod : pods) {
    Json& metadata = pod["metadata"];
    if (!tried.insert(metadata["labels"].value(cluster::kTypeLabel, "")).second) continue;
    metadata.erase("ownerReferences");  // the owner is not there either
    kubernetes::Request request{.method = "POST",
                                .path = cluster::collection_path(pod, manifests.input().name_space),
                                .query = {{"dryRun", "All"}, kubernetes::kStrictFields},
                                .body = pod,
                                .patience = base::Duration::zero()};
    const auto answer = kubernetes::ask(loop, client, std::move(request), deadline);
    if (!answer.ok()) {
      return answer.error().context(
          base::format("{} cannot be made", cluster::words_of_object(pod)));
    }
  }
  return {};
}

}  // namespace gangrun::client
