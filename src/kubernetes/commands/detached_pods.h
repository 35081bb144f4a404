#pragma once

#include <chrono>

#include "client/context.h"
#include "client/exit_status.h"
#include "client/run_options.h"
#include "client/run_session.h"
#include "job/spec.h"
#include "kubernetes/access.h"
#include "kubernetes/pods/manifests.h"

namespace gangrun::kubernetes::commands {

// How long all of a detached job lives at most: its own time limit, or a week.
std::chrono::seconds detached_lease(const job::JobSpec& spec);

// Refuses what nobody does for a job without agents once its client has gone: kInvalidArgument
// names it.
base::Result<> check_detached_pods(const job::JobSpec& spec);

// A job as it is started there: its cluster, and what is made but for the job's id.
struct PodsPlan {
  client::RunPlan run;
  kubernetes::Access access{};
  pods::ManifestInput manifests{};
};

// Makes all that the job is made of, its pods included, and goes. Where something cannot be made,
// or the user interrupts, what was made is removed again.
client::ExitStatus run_detached_pods(PodsPlan plan, const client::RunOptions& options,
                                     client::Context& context);

}  // namespace gangrun::kubernetes::commands
