#include "cluster/local/this_machine.h"

#include <sched.h>

#include <algorithm>
#include <filesystem>
#include <thread>

#include "base/files.h"
#include "base/strings.h"

namespace gangrun::cluster {

namespace {

constexpr std::size_t kMaxProcFileBytes = std::size_t{1} << 20U;
constexpr std::int64_t kKibInMib = 1024;
constexpr std::int64_t kBytesInMib = std::int64_t{1} << 20U;

std::int64_t total_memory_mib(const std::string& path) {
  const auto text = base::read_file(path, kMaxProcFileBytes);
  if (!text.ok()) return 0;
  for (const std::string& line : base::split(*text, '\n')) {
    constexpr std::string_view kKey = "MemTotal:";
    if (!line.starts_with(kKey)) continue;
    std::string_view value = base::trim(std::string_view(line).substr(kKey.size()));
    value = base::trim(value.substr(0, value.find(' ')));
    return base::parse_integer(value).value_or(0) / kKibInMib;
  }
  return 0;
}

// Our folder in the hierarchy of version 2; empty where there is none.
std::string cgroup_path(const std::string& path) {
  const auto text = base::read_file(path, kMaxProcFileBytes);
  if (!text.ok()) return {};
  for (const std::string& line : base::split(*text, '\n')) {
    if (line.starts_with("0::")) return line.substr(3);
  }
  return {};
}

}  // namespace

std::int64_t usable_memory_mib(const MachineSources& sources) {
  std::int64_t memory = total_memory_mib(sources.meminfo);
  std::filesystem::path folder = cgroup_path(sources.own_cgroup);
  if (folder.empty()) return memory;
  // The limit of every group above counts too.
  while (true) {
    const std::string file = sources.cgroup_root + folder.string() + "/memory.max";
    const auto text = base::read_file(file, kMaxProcFileBytes);
    const auto limit = text.ok() ? base::parse_integer(base::trim(*text)) : std::nullopt;
    if (limit && (memory == 0 || *limit / kBytesInMib < memory)) memory = *limit / kBytesInMib;
    if (!folder.has_relative_path()) return memory;
    folder = folder.parent_path();
  }
}

int usable_cores() {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  if (::sched_getaffinity(0, sizeof(cores), &cores) == 0) return CPU_COUNT(&cores);
  return static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
}

}  // namespace gangrun::cluster
