#pragma once

#include "client/context.h"
#include "client/run_options.h"
#include "job/spec.h"

namespace gangrun::yarn::commands {

// Submits a job to the YARN cluster of HADOOP_CONF_DIR and shows it until it ends; with `detach`
// returns when YARN has recorded it.
client::ExitStatus run_on_yarn(const job::JobSpec& asked, const client::RunOptions& options,
                               client::Context& context);

}  // namespace gangrun::yarn::commands
