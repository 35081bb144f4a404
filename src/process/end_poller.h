#pragma once

#include <sys/types.h>

#include <cstdint>

#include "base/unique_fd.h"

namespace gangrun::process {

// For kernels without pidfds: a descriptor that is readable soon after
// the process with this number and start has ended. A thread of ours looks at all of them, every 10
// ms, or less often where a look takes long; it runs as long as there are any. Closing the
// descriptor is enough to have its process forgotten. Invalid, with errno, where there is no room
// for a pipe or a thread.
base::UniqueFd poll_for_end(pid_t pid, std::uint64_t start_ticks);

}  // namespace gangrun::process
