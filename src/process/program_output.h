#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"

namespace gangrun::process {

// Returns what a program writes to its standard output until it ends; waits for it until
// `deadline`. It is sent SIGTERM then, and killed 100 ms later; SIGTERM too when the thread that
// called this ends. An error names the program: it cannot be started, has failed (with
// the last line of its standard error), takes too long, or writes more than `max_bytes`.
base::Result<std::string> program_output(const std::vector<std::string>& argv,
                                         base::Instant deadline, std::size_t max_bytes);

}  // namespace gangrun::process
