#pragma once

#include <chrono>

#include "cli/context.h"
#include "cli/exit_status.h"
#include "cli/run_options.h"
#include "cli/run_session.h"
#include "job/spec.h"

namespace gangrun::cli {

// How long all of a detached job lives at most: its own time limit, or a week.
std::chrono::seconds detached_lease(const job::JobSpec& spec);

// What holds only while a client leads the job: kInvalidArgument names it.
base::Result<> check_detached_pods(const job::JobSpec& spec);

// Makes all that the job is made of, its pods included, and goes. Where something cannot be made,
// or the user interrupts, what was made is removed again.
ExitStatus run_detached_pods(RunPlan plan, const RunOptions& options, Context& context);

}  // namespace gangrun::cli
