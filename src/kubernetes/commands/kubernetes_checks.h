#pragma once

#include <string>
#include <vector>

#include "base/clock.h"
#include "base/json.h"
#include "base/result.h"
#include "job/spec.h"
#include "kubernetes/client.h"
#include "kubernetes/pods/kubernetes_options.h"
#include "net/event_loop.h"

// The checks of a cluster before anything is made there.
namespace gangrun::kubernetes::commands {

// The means to schedule a gang there, by the API groups of the cluster.
struct GangAbilities {
  bool has_kueue = false;
  bool has_volcano = false;
  bool has_workload = false;
};

// Reads the answer to GET /apis.
GangAbilities gang_abilities(const base::Json& groups);

// How the job's pods are scheduled all or none: what it asks for, if that is there.
base::Result<pods::GangScheduling> gang_scheduling_of(const job::JobSpec& spec,
                                                      const GangAbilities& abilities);

// One thing that somebody may do to the objects of a namespace.
struct Right {
  std::string verb;
  std::string group;  // "" of the core API
  std::string resource;
  std::string subresource{};

  friend bool operator==(const Right&, const Right&) = default;
};

// All that a client needs for the job (docs/kubernetes.md has them as a Role).
std::vector<Right> rights_for(const job::JobSpec& spec, pods::GangScheduling scheduling);
// "create pods/exec", "patch jobs.batch".
std::string to_string(const Right& right);
// The question whether who asks has it, as a SelfSubjectAccessReview.
base::Json access_review(const Right& right, const std::string& name_space);

// Asks the API server whether the job can be started in the namespace, and how its pods are
// scheduled then: that it is there, and that we have the rights, which are named where they are
// missing. Runs the loop. kCancelled: `is_cancelled` became true meanwhile.
base::Result<pods::GangScheduling> check_cluster(net::EventLoop& loop, kubernetes::Client& client,
                                                 const job::JobSpec& spec, base::Instant deadline,
                                                 const std::function<bool()>& is_cancelled);

}  // namespace gangrun::kubernetes::commands
