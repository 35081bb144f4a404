#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "job/spec.h"
#include "kubernetes/client.h"
#include "kubernetes/pods/rights.h"
#include "net/event_loop.h"

// The service account of a detached job's master: whether it may do what a master does.
namespace gangrun::kubernetes::commands {

struct AccountVerdict {
  std::vector<pods::Right> missing{};
  bool is_known = true;  // false: nobody may ask for others here
  std::string why_unknown{};
  bool is_there = true;  // false: there is no such account in the namespace

  [[nodiscard]] bool is_refused() const { return !is_there || !missing.empty(); }
};

// Asks about an account of the namespace of the client's access: by a review that names it, or
// where that is forbidden by asking as that account. Runs the loop, until `is_cancelled` too.
AccountVerdict check_account(net::EventLoop& loop, kubernetes::Client& client,
                             const std::string& account, const std::vector<pods::Right>& rights,
                             base::Instant deadline, const std::function<bool()>& is_cancelled);

// The reason why such an account cannot lead jobs: kPermissionDenied.
base::Error refusal_of(const AccountVerdict& verdict, const std::string& account,
                       const std::string& name_space);
// Whether the client's namespace has the persistent volume claim in which the job's master would
// keep its records. Who may not look at claims hears of it from the cluster.
base::Result<> check_claim(net::EventLoop& loop, kubernetes::Client& client,
                           const job::JobSpec& spec, base::Instant deadline,
                           const std::function<bool()>& is_cancelled);
// The sentence before a Role that makes an account a master's.
std::string role_words(const std::string& account);

}  // namespace gangrun::kubernetes::commands
