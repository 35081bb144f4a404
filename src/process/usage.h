#pragma once

#include <sys/types.h>

#include <cstdint>
#include <vector>

namespace gangrun::process {

// The present use of resources by a group of processes.
struct Usage {
  std::uint64_t memory_bytes = 0;  // resident, shared pages counted in each
  double cpu_seconds = 0;          // of the living ones and of the children that they have reaped
};

// Processes that have ended meanwhile count nothing.
Usage usage_of(const std::vector<pid_t>& processes);

}  // namespace gangrun::process
