#pragma once

#include <string>

#include "base/json.h"
#include "client/context.h"
#include "client/run_options.h"
#include "job/spec.h"

namespace gangrun::client {

// Leaves a job that has just been submitted and needs this process no more. `json` is what is told
// of it with --json.
ExitStatus leave_submitted(const std::string& id, const base::Json& json, const job::JobSpec& spec,
                           const RunOptions& options, Context& context);

}  // namespace gangrun::client
