#include "kubernetes/node/own_rights.h"

#include <cstddef>
#include <utility>

#include "base/format.h"

namespace gangrun::kubernetes::node {

base::Result<> check_own_rights(net::EventLoop& loop, kubernetes::Client& client,
                                const std::string& name_space,
                                const std::vector<pods::Right>& rights, base::Instant deadline) {
  std::vector<base::Result<base::Json>> answers(rights.size(), base::Json());
  std::size_t missing_answers = rights.size();
  std::vector<kubernetes::ActivityHandle> asked;
  for (std::size_t i = 0; i < rights.size(); ++i) {
    kubernetes::Request review{.method = "POST",
                               .path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
                               .body = pods::access_review(rights[i], name_space)};
    asked.push_back(client.request(std::move(review), deadline, [&, i](ApiAnswer answer) {
      answers[i] = std::move(answer.object);
      --missing_answers;
    }));
  }
  if (!loop.run_until([&] { return missing_answers == 0; }, deadline)) {
    return base::deadline_exceeded("the API server did not say what rights the master has");
  }
  GANGRUN_ASSIGN(const std::vector<pods::Right> missing, pods::denied_by(answers, rights));
  if (missing.empty()) return {};
  return base::Error{base::Code::kPermissionDenied,
                     base::format("the service account of the job's master has no right to {} in "
                                  "the namespace '{}'",
                                  pods::words_of(missing), name_space)};
}

}  // namespace gangrun::kubernetes::node
