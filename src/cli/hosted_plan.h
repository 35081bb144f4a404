#pragma once

#include "base/result.h"
#include "cli/context.h"
#include "cli/run_options.h"
#include "cli/run_session.h"

// Jobs whose master is on this machine.
namespace gangrun::cli {

// Home, host, ports and working folder of such a job. What only its place knows is not in it yet.
base::Result<RunPlan> hosted_plan(job::JobSpec spec, const RunOptions& options,
                                  const Context& context);

// What --dry-run says of it.
ExitStatus show_plan(const RunPlan& run, const RunOptions& options, Context& context);

}  // namespace gangrun::cli
