#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "process/containment.h"

namespace gangrun::agent {

// All that one command beside the task has started has this variable, with a value of its own.
inline constexpr const char* kExecVariable = "GANGRUN_EXEC";

// The value for the command with this number.
std::string exec_mark(std::uint64_t number);

// Kills what is left of the command among the processes of the task: where both processes that
// ran it were killed, nobody else knows that it is no process of the task's own. `own_children` as
// in process::kill_processes().
base::Result<> kill_exec_rest(const process::Containment& containment, const std::string& mark,
                              const std::vector<pid_t>& own_children, base::Instant deadline);

}  // namespace gangrun::agent
