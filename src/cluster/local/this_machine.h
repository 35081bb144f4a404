#pragma once

#include <cstdint>
#include <string>

namespace gangrun::cluster {

// Where the kernel tells of the machine; others in tests.
struct MachineSources {
  std::string meminfo = "/proc/meminfo";
  std::string own_cgroup = "/proc/self/cgroup";
  std::string cgroup_root = "/sys/fs/cgroup";
};

// Memory that may be used: of the machine, or of the cgroups that we are in where that is less.
// 0 where it cannot be told.
std::int64_t usable_memory_mib(const MachineSources& sources);

// Cores that this process may run on.
int usable_cores();

}  // namespace gangrun::cluster
