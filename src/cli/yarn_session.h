#pragma once

#include <string>

#include "cli/context.h"
#include "cli/hadoop_access.h"
#include "cli/run_options.h"

namespace gangrun::cli {

// Shows a job on YARN as `run` does, from its beginning, until it ends. Where the job is `ours`,
// Ctrl-C ends it as on one machine; else Ctrl-C leaves and the job goes on.
ExitStatus show_yarn_job(const HadoopAccess& access, const std::string& id, bool ours,
                         const DisplayOptions& options, Context& context);

}  // namespace gangrun::cli
