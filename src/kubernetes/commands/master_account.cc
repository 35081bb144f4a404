#include "kubernetes/commands/master_account.h"

#include <memory>
#include <utility>

#include "base/format.h"
#include "base/log.h"
#include "kubernetes/commands/kubernetes_access.h"
#include "kubernetes/commands/kubernetes_checks.h"
#include "kubernetes/pods/journal_volume.h"

namespace gangrun::kubernetes::commands {

namespace {

using base::Json;
using base::Result;

std::string user_of(const std::string& account, const std::string& name_space) {
  return base::format("system:serviceaccount:{}:{}", name_space, account);
}

// The question whether somebody else has the right, with the groups that every such account has.
Json review_of_other(const pods::Right& right, const std::string& account,
                     const std::string& name_space) {
  return {{"apiVersion", "authorization.k8s.io/v1"},
          {"kind", "LocalSubjectAccessReview"},
          {"metadata", {{"namespace", name_space}}},
          {"spec",
           {{"resourceAttributes", pods::access_attributes(right, name_space)},
            {"user", user_of(account, name_space)},
            {"groups", Json::array({"system:serviceaccounts",
                                    base::format("system:serviceaccounts:{}", name_space),
                                    "system:authenticated"})}}}};
}

// Asks about one account, until all that is asked is answered or nobody wants to know.
struct Inquiry {
  net::EventLoop& loop;
  std::string account;
  std::string name_space;
  const std::vector<pods::Right>& rights;
  base::Instant deadline;
  const std::function<bool()>& is_cancelled;

  // A user who may not look at accounts hears of it when the pod cannot be made.
  [[nodiscard]] bool is_there(kubernetes::Client& client) const {
    const auto found = ask_all(
        loop, client,
        {{.path = base::format("/api/v1/namespaces/{}/serviceaccounts/{}", name_space, account)}},
        deadline, is_cancelled);
    return found.front().ok() || found.front().error().code != base::Code::kNotFound;
  }

  [[nodiscard]] Result<std::vector<pods::Right>> by_name(kubernetes::Client& client) const {
    const std::string path = base::format(
        "/apis/authorization.k8s.io/v1/namespaces/{}/localsubjectaccessreviews", name_space);
    std::vector<kubernetes::Request> requests;
    for (const pods::Right& right : rights) {
      requests.push_back(
          {.method = "POST", .path = path, .body = review_of_other(right, account, name_space)});
    }
    return pods::denied_by(ask_all(loop, client, std::move(requests), deadline, is_cancelled),
                           rights);
  }

  [[nodiscard]] Result<std::vector<pods::Right>> as_account(kubernetes::Access access) const {
    access.impersonated_user = user_of(account, name_space);
    access.impersonated_groups.clear();
    const auto logger = base::stderr_logger("gangrun", base::LogLevel::kError);
    GANGRUN_ASSIGN(const auto client,
                   kubernetes::Client::make(loop, *logger, std::move(access), plugin_runner()));
    return missing_rights(loop, *client, rights, deadline, is_cancelled);
  }
};

}  // namespace

AccountVerdict check_account(net::EventLoop& loop, kubernetes::Client& client,
                             const std::string& account, const std::vector<pods::Right>& rights,
                             base::Instant deadline, const std::function<bool()>& is_cancelled) {
  const Inquiry inquiry{loop, account, client.access().name_space, rights, deadline, is_cancelled};
  AccountVerdict verdict;
  verdict.is_there = inquiry.is_there(client);
  if (!verdict.is_there) return verdict;
  auto missing = inquiry.by_name(client);
  if (!missing.ok() && missing.error().code == base::Code::kPermissionDenied) {
    missing = inquiry.as_account(client.access());
  }
  if (!missing.ok()) {
    verdict.is_known = false;
    verdict.why_unknown = missing.error().message;
    return verdict;
  }
  verdict.missing = *std::move(missing);
  return verdict;
}

base::Error refusal_of(const AccountVerdict& verdict, const std::string& account,
                       const std::string& name_space) {
  if (!verdict.is_there) {
    return {base::Code::kPermissionDenied,
            base::format("kubernetes.master.service_account: the namespace '{}' has no service "
                         "account '{}'",
                         name_space, account)};
  }
  return {base::Code::kPermissionDenied,
          base::format("kubernetes.master.service_account: in the namespace '{}' the service "
                       "account '{}' has no right to {}",
                       name_space, account, pods::words_of(verdict.missing))};
}

Result<> check_claim(net::EventLoop& loop, kubernetes::Client& client, const job::JobSpec& spec,
                     base::Instant deadline, const std::function<bool()>& is_cancelled) {
  const std::string claim = pods::journal_claim(spec);
  if (claim.empty()) return {};
  const std::string& name_space = client.access().name_space;
  const auto found =
      ask_all(loop, client,
              {{.path = base::format("/api/v1/namespaces/{}/persistentvolumeclaims/{}", name_space,
                                     claim)}},
              deadline, is_cancelled);
  if (found.front().ok() || found.front().error().code != base::Code::kNotFound) return {};
  return base::invalid_argument(
      base::format("{}: the namespace '{}' has no persistent volume claim '{}'",
                   pods::kJournalField, name_space, claim));
}

std::string role_words(const std::string& account) {
  return base::format(
      "the service account '{}' with the rights that a job's master needs, for `kubectl apply -f "
      "-`:\n",
      account);
}

}  // namespace gangrun::kubernetes::commands
