#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"

// The stacks of a Python process that answers by `faulthandler` (docs/protocols/stacks.md).
namespace gangrun::process {

// The name of the FIFO by which such a process answers, before the process's own number.
inline constexpr std::string_view kDumpName = "gangrun-stacks-";

// None: the process does not answer so. Nothing is sent to it then.
std::optional<base::Result<std::string>> python_dump(pid_t pid, base::Instant deadline);

// The number of a process with this /proc/PID/status in its own PID namespace; 0: the text does not
// have it.
pid_t own_number(std::string_view status);
// Whether the target of a link in /proc/PID/fd is the FIFO of the process with that number.
bool is_dump_fifo(std::string_view target, pid_t own_number);

}  // namespace gangrun::process
