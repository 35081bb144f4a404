#include "process/usage.h"

#include <unistd.h>

#include <chrono>

#include "process/proc_fs.h"

namespace gangrun::process {

Usage usage_of(const std::vector<pid_t>& processes) {
  const auto page_bytes = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  Usage usage;
  for (const pid_t pid : processes) {
    const auto stat = read_stat(pid);
    if (!stat) continue;
    usage.memory_bytes += stat->resident_pages * page_bytes;
    usage.cpu_seconds += std::chrono::duration<double>(stat->cpu + stat->children_cpu).count();
  }
  return usage;
}

}  // namespace gangrun::process
