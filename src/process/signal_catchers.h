#pragma once

#include <sys/types.h>

#include <string_view>
#include <vector>

namespace gangrun::process {

// Whether the text of /proc/PID/status says that the process has a handler for the signal.
bool catches_signal(std::string_view status, int number);

// The processes that are to have a signal which ends every process without a handler for it: each
// of the `roots`, or where it has none, the first of its descendants on every line that have. So a
// shell between does not die of it, and a program's helpers are left to the program.
std::vector<pid_t> signal_catchers(const std::vector<pid_t>& roots, int number);

}  // namespace gangrun::process
