#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "client/context.h"
#include "client/place.h"
#include "cluster/check.h"
#include "job/spec.h"

namespace gangrun::kubernetes::commands {

// The cluster and namespace that are examined; none: as jobs find them.
struct ClusterToExamine {
  std::optional<std::string> name_space;
  std::optional<std::string> context;
  std::optional<std::string> kubeconfig;
};

// A job there that says nothing more: it has what the user's files of defaults say.
base::Result<job::JobSpec> plain_job(const ClusterToExamine& cluster,
                                     const client::Context& context);

// How agents would come into its pods, and why so.
cluster::Check check_of_agents(const job::JobSpec& spec, const client::Context& context);

// Both, and what the API server says. Nothing is made there.
base::Result<client::Examination> look_at_cluster(const ClusterToExamine& cluster,
                                                  client::Context& context);

}  // namespace gangrun::kubernetes::commands
