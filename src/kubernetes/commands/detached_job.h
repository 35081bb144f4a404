#pragma once

#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "client/context.h"
#include "client/exit_status.h"
#include "client/run_options.h"
#include "client/run_session.h"
#include "job/spec.h"
#include "kubernetes/access.h"
#include "kubernetes/pods/manifests.h"

// A detached job: its master is a pod.
namespace gangrun::kubernetes::commands {

// A job as it is started: its cluster, and what is made but for the job's id.
struct PodsPlan {
  client::RunPlan run;
  kubernetes::Access access{};
  pods::ManifestInput manifests{};
};

// Refuses what a job that is to be detached cannot have: kInvalidArgument names it.
base::Result<> check_detached(const client::RunOptions& options, const job::JobSpec& spec);

// A job that names no account for its master: kInvalidArgument, after a Role for one was told.
base::Result<> check_master_account(const job::JobSpec& spec, const std::string& name_space,
                                    client::Context& context);

// All that the client makes of it, in its order, and the first pods, as --dry-run shows them.
base::Result<std::vector<base::Json>> detached_objects(const pods::Manifests& manifests);

// Makes all but the tasks' pods, starts the master and waits until it leads the job. Where that
// fails, or the user interrupts, what was made is removed again.
client::ExitStatus run_with_pod_master(PodsPlan plan, const client::RunOptions& options,
                                       client::Context& context);

}  // namespace gangrun::kubernetes::commands
