#pragma once

#include <vector>

#include "base/clock.h"

namespace gangrun::process {

// Whether `fd` became readable (for a ProcessHandle: the process ended) before `deadline`. A
// deadline in the past looks once.
bool wait_readable(int fd, base::Instant deadline);

// Waits until one of the descriptors is readable or broken; false at the deadline.
bool wait_any_readable(const std::vector<int>& fds, base::Instant deadline);

}  // namespace gangrun::process
