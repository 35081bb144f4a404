#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cluster/local/local_cluster.h"

namespace gangrun::cluster {

// Where the kernel tells of the machine; others in tests.
struct MachineSources {
  std::string meminfo = "/proc/meminfo";
  std::string own_cgroup = "/proc/self/cgroup";
  std::string cgroup_root = "/sys/fs/cgroup";
  std::string devices = "/dev";
};

// Memory that may be used: of the machine, or of the cgroups that we are in where that is less.
// 0 where it cannot be told.
std::int64_t usable_memory_mib(const MachineSources& sources);

// The numbers of the NVIDIA GPUs of this machine; of those only the ones in `visible` (the value of
// CUDA_VISIBLE_DEVICES), where it is set and lists numbers.
std::vector<int> usable_gpus(const MachineSources& sources,
                             const std::optional<std::string>& visible);

// Cores that this process may run on.
int usable_cores();

}  // namespace gangrun::cluster
