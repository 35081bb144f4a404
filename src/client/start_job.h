#pragma once

#include "client/context.h"
#include "client/run_options.h"

namespace gangrun::client {

// Does the work of `gangrun run`, also for the commands that take a job in other words.
ExitStatus start_job(RunOptions options, Context& context);

}  // namespace gangrun::client
