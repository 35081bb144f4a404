#include "kubernetes/commands/trial_pods.h"

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/format.h"
#include "base/json.h"
#include "kubernetes/commands/first_pods.h"
#include "kubernetes/pods/errands.h"
#include "kubernetes/pods/job_objects.h"

namespace gangrun::kubernetes::commands {

using base::Json;
using base::Result;

Result<> try_pods(net::EventLoop& loop, kubernetes::Client& client,
                  const pods::Manifests& manifests, base::Instant deadline) {
  GANGRUN_ASSIGN(std::vector<Json> pods, first_pods(manifests, pods::Owner{}));
  std::set<std::string> tried;  // task types
  for (Json& pod : pods) {
    Json& metadata = pod["metadata"];
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
