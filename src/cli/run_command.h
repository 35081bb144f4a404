#pragma once

#include "cli/context.h"
#include "cli/run_options.h"

namespace gangrun::cli {

// What `gangrun run` does, also for the commands that take a job in other words.
ExitStatus run(const RunOptions& options, Context& context);

}  // namespace gangrun::cli
