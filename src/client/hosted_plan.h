#pragma once

#include "base/result.h"
#include "client/context.h"
#include "client/run_options.h"
#include "client/run_session.h"

// Jobs whose master is on this machine.
namespace gangrun::client {

// Home, host, ports and working folder of such a job. What only its place knows is not in it yet.
base::Result<RunPlan> hosted_plan(job::JobSpec spec, const RunOptions& options,
                                  const Context& context);

// Shows what --dry-run says of it.
ExitStatus show_plan(const RunPlan& run, const RunOptions& options, Context& context);

}  // namespace gangrun::client
