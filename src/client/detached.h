#pragma once

#include "client/run_session.h"

namespace gangrun::client {

// Submits a job whose master is a process of its own, and returns as soon as that has asked for its
// tasks, or could not.
ExitStatus run_detached(const RunPlan& plan, const RunOptions& options, Context& context);

}  // namespace gangrun::client
