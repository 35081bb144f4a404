#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "job/spec.h"
#include "kubernetes/pods/kubernetes_options.h"

namespace gangrun::kubernetes::pods {

// One thing that somebody may do to the objects of a namespace.
struct Right {
  std::string verb;
  std::string group;  // "" of the core API
  std::string resource;
  std::string subresource{};
  bool is_for_agents = false;  // a job without agents does not need it

  friend bool operator==(const Right&, const Right&) = default;
};

// "create pods/exec", "patch jobs.batch".
std::string to_string(const Right& right);
// "create pods/exec, patch jobs.batch".
std::string words_of(const std::vector<Right>& rights);
// The question whether somebody has it, as the resourceAttributes of an access review.
base::Json access_attributes(const Right& right, const std::string& name_space);
// The question whether who asks has it, as a SelfSubjectAccessReview.
base::Json access_review(const Right& right, const std::string& name_space);
// Those of the rights that the answers deny, which are one for each; an error where one of them is
// no answer.
base::Result<std::vector<Right>> denied_by(std::span<const base::Result<base::Json>> reviews,
                                           const std::vector<Right>& rights);

// All that a client needs for the job (docs/kubernetes.md has them as a Role), with the scheduling
// that it asks for: what the cluster has is known later.
std::vector<Right> client_rights(const job::JobSpec& spec);
// The same where a pod leads it.
std::vector<Right> detached_client_rights(const job::JobSpec& spec);
// All that the account of the master's pod needs.
std::vector<Right> master_rights(const job::JobSpec& spec);
// A service account, a Role with these rights and what binds both, for `kubectl apply`. All are
// called as the account.
std::string role_of(const std::vector<Right>& rights, const std::string& name_space,
                    const std::string& account);

}  // namespace gangrun::kubernetes::pods
