#pragma once

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
};

// Asks about the account that the job names, in the namespace of the client's access: by a review
// that names it, or where that is forbidden as that account. Runs the loop.
AccountVerdict check_account(net::EventLoop& loop, kubernetes::Client& client,
                             const job::JobSpec& spec, base::Instant deadline);

// The account cannot lead jobs: what it lacks, and the Role that it needs. kPermissionDenied.
base::Error refusal_of(const AccountVerdict& verdict, const job::JobSpec& spec,
                       const std::string& name_space);
// The job names no account.
base::Error no_account(const job::JobSpec& spec, const std::string& name_space);

}  // namespace gangrun::kubernetes::commands
