#include "local/machine.h"

#include "base/format.h"
#include "base/strings.h"

namespace gangrun::local {

namespace {

std::string limit_words(const std::string& cgroup) {
  return cgroup.empty() ? "" : base::format(", the limit of the cgroup {}", cgroup);
}

}  // namespace

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
