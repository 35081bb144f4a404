#pragma once

#include <sys/types.h>

#include <vector>

#include "base/clock.h"
#include "base/unique_fd.h"

namespace gangrun::process {

// Whether `fd` became readable (for a pidfd: the process ended) before `deadline`. A deadline in
// the past looks once.
bool wait_readable(int fd, base::Instant deadline);

// Waits until one of the descriptors is readable or broken; false at the deadline.
bool wait_any_readable(const std::vector<int>& fds, base::Instant deadline);

// A descriptor that names the process however its number is reused later; invalid where there is no
// such process.
base::UniqueFd open_pidfd(pid_t pid);

// Sends a signal to the very process that `pidfd` names.
bool signal_pidfd(int pidfd, int number);

}  // namespace gangrun::process
