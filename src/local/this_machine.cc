#include "local/this_machine.h"

#include <sched.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <optional>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "base/files.h"
#include "base/format.h"
#include "base/strings.h"
#include "job/choice.h"
#include "process/cgroup.h"
#include "process/levels.h"

namespace gangrun::local {

namespace {

constexpr std::size_t kMaxProcFileBytes = std::size_t{1} << 20U;
constexpr std::int64_t kKibInMib = 1024;
constexpr std::int64_t kBytesInMib = std::int64_t{1} << 20U;
// The most groups inside each other that are read.
constexpr int kMaxDepth = 64;

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

std::optional<std::int64_t> number_in(const std::string& path) {
  const auto text = base::read_file(path, kMaxProcFileBytes);
  return text.ok() ? base::parse_integer(base::trim(*text)) : std::nullopt;
}

// A group that we are in.
struct Group {
  std::string folder;  // as users see it
  std::string path;    // where its files are read
  bool version_2 = false;
};

// The group's own folder and those above it, as far as they are mounted.
void add_groups(const process::CgroupMount& mount, const std::string& own, const std::string& root,
                std::vector<Group>& groups) {
  namespace fs = std::filesystem;
  // From the mount's root; a container may see nothing but its own group, whatever it is called.
  fs::path below = fs::path(own).lexically_relative(mount.root);
  if (below.empty() || *below.begin() == "..") below = ".";
  fs::path folder = (fs::path(mount.folder) / below).lexically_normal();
  for (int depth = 0; depth < kMaxDepth; ++depth) {
    std::string text = folder.string();
    while (text.size() > 1 && text.back() == '/') text.pop_back();
    groups.push_back({text, root + text, mount.version_2});
    if (text == mount.folder || !folder.has_relative_path()) return;
    folder = fs::path(text).parent_path();
  }
}

// In both versions, as a machine may have one controller in each of them.
std::vector<Group> groups_of(const MachineSources& sources, std::string_view controller) {
  std::vector<Group> groups;
  const auto own = base::read_file(sources.own_cgroup, kMaxProcFileBytes);
  const auto mounts = base::read_file(sources.mountinfo, kMaxProcFileBytes);
  if (!own.ok() || !mounts.ok()) return groups;
  for (const process::CgroupMount& mount : process::parse_cgroup_mounts(*mounts)) {
    if (!mount.version_2 && !std::ranges::count(mount.controllers, controller)) continue;
    const auto path =
        process::parse_own_cgroup(*own, mount.version_2 ? std::string_view() : controller);
    if (path) add_groups(mount, *path, sources.root, groups);
  }
  return groups;
}

// The least of what these groups allow, where that is less than what there is.
Usable limited(Usable usable, const std::vector<Group>& groups,
               const std::function<std::optional<std::int64_t>(const Group&)>& limit_of) {
  for (const Group& group : groups) {
    const auto limit = limit_of(group);
    if (limit && (usable.amount == 0 || *limit < usable.amount)) usable = {*limit, group.folder};
  }
  return usable;
}

std::optional<std::int64_t> memory_limit(const Group& group) {
  const auto bytes =
      number_in(group.path + (group.version_2 ? "/memory.max" : "/memory.limit_in_bytes"));
  return bytes ? std::optional(*bytes / kBytesInMib) : std::nullopt;
}

// The time of the processors that a group may use in each period, as whole cores.
std::optional<std::int64_t> core_limit(const Group& group) {
  std::optional<std::int64_t> quota;
  std::optional<std::int64_t> period;
  if (group.version_2) {
    const auto text = base::read_file(group.path + "/cpu.max", kMaxProcFileBytes);
    if (!text.ok()) return std::nullopt;
    const auto words = base::split(base::trim(*text), ' ');
    if (words.size() != 2) return std::nullopt;
    quota = base::parse_integer(words[0]);  // "max" is none
    period = base::parse_integer(words[1]);
  } else {
    quota = number_in(group.path + "/cpu.cfs_quota_us");  // -1 is none
    period = number_in(group.path + "/cpu.cfs_period_us");
  }
  if (!quota || !period || *quota <= 0 || *period <= 0) return std::nullopt;
  return (*quota - 1) / *period + 1;
}

std::int64_t cores_of_affinity() {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  if (::sched_getaffinity(0, sizeof(cores), &cores) == 0) return CPU_COUNT(&cores);
  return std::max(1U, std::thread::hardware_concurrency());
}

std::string limit_words(const std::string& cgroup) {
  return cgroup.empty() ? "" : base::format(", the limit of the cgroup {}", cgroup);
}

}  // namespace

base::Result<job::Containment> choose_containment(job::Containment wanted) {
  // "auto" is the name of no level.
  const auto choice = process::choose_level(process::level_from_string(job::to_string(wanted)));
  if (!choice.ability.possible) {
    return base::Error{base::Code::kFailedPrecondition,
                       base::format("containment {} is not possible on this host: {}",
                                    process::to_string(choice.level), choice.ability.reason)};
  }
  return job::choice_from<job::Containment>(process::to_string(choice.level));
}

Usable usable_memory_mib(const MachineSources& sources) {
  return limited({total_memory_mib(sources.meminfo)}, groups_of(sources, "memory"), memory_limit);
}

Usable usable_cores(const MachineSources& sources) {
  return limited({cores_of_affinity()}, groups_of(sources, "cpu"), core_limit);
}

Machine this_machine(const job::Gpus& gpus) {
  Usable memory = usable_memory_mib({});
  Usable cores = usable_cores({});
  return {.memory_mib = memory.amount,
          .vcores = static_cast<int>(cores.amount),
          .gpus = static_cast<int>(gpus.list.size()),
          .memory_limited_by = std::move(memory.limited_by),
          .vcores_limited_by = std::move(cores.limited_by)};
}

base::Result<> check_fits(const job::JobSpec& spec, const Machine& machine) {
  std::int64_t memory_mib = 0;
  int gpus = 0;
  for (const job::TaskSpec& task : spec.tasks) {
    for (int index = 0; index < task.slots(); ++index) {
      const job::Resources asked = task.resources_of(index);
      memory_mib += asked.memory_mib;
      gpus += asked.gpus;
      if (asked.vcores > machine.vcores) {
        return base::invalid_argument(base::format(
            "{} asks for {}; this machine has {}{}", job::to_string(job::TaskId{task.type, index}),
            base::count_text(asked.vcores, "vcore"), machine.vcores,
            limit_words(machine.vcores_limited_by)));
      }
    }
  }
  if (gpus > machine.gpus) {
    return base::invalid_argument(base::format("the job asks for {}; this machine has {}",
                                               base::count_text(gpus, "GPU"), machine.gpus));
  }
  if (memory_mib > machine.memory_mib) {
    return base::invalid_argument(
        base::format("the job asks for {} MiB of memory; this machine has {} MiB{}", memory_mib,
                     machine.memory_mib, limit_words(machine.memory_limited_by)));
  }
  return {};
}

}  // namespace gangrun::local
