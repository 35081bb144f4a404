#pragma once

#include "client/context.h"
#include "client/run_options.h"
#include "job/spec.h"

namespace gangrun::client {

// Submits a job to the YARN cluster of HADOOP_CONF_DIR and shows it until it ends; with `detach`
// returns when YARN has recorded it.
ExitStatus run_on_yarn(const job::JobSpec& asked, const RunOptions& options, Context& context);

}  // namespace gangrun::client
