#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/json.h"
#include "base/result.h"
#include "job/spec.h"
#include "kubernetes/client.h"
#include "kubernetes/pods/kubernetes_options.h"
#include "kubernetes/pods/rights.h"
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

// Several questions at once, answered in the order in which they were asked. Runs the loop, until
// `is_cancelled` too.
std::vector<base::Result<base::Json>> ask_all(net::EventLoop& loop, kubernetes::Client& client,
                                              std::vector<kubernetes::Request> requests,
                                              base::Instant deadline,
                                              const std::function<bool()>& is_cancelled);

// Those of the rights in the client's namespace that whoever asks does not have. Runs the loop.
base::Result<std::vector<pods::Right>> missing_rights(net::EventLoop& loop,
                                                      kubernetes::Client& client,
                                                      const std::vector<pods::Right>& rights,
                                                      base::Instant deadline,
                                                      const std::function<bool()>& is_cancelled);

// Asks the API server whether the job can be started in the namespace, and how its pods are
// scheduled then: that it is there, and that we have these rights, which are named where they are
// missing. Runs the loop. kCancelled: `is_cancelled` became true meanwhile.
base::Result<pods::GangScheduling> check_cluster(net::EventLoop& loop, kubernetes::Client& client,
                                                 const job::JobSpec& spec,
                                                 const std::vector<pods::Right>& rights,
                                                 base::Instant deadline,
                                                 const std::function<bool()>& is_cancelled);

}  // namespace gangrun::kubernetes::commands
