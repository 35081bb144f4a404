#include "cluster/container_names.h"

#include "base/format.h"

namespace gangrun::cluster {

std::vector<std::string> containers(const job::JobSpec& spec, std::string_view job_id,
                                    const job::TaskId& task, int attempt) {
  const job::TaskSpec* task_spec = spec.find(task.type);
  if (task_spec == nullptr || spec.image_of(*task_spec).empty()) return {};
  const std::string name =
      base::format("gangrun-{}-{}-{}-{}", job_id, task.type, task.index, attempt);
  if (task_spec->processes == 1) return {name};
  std::vector<std::string> names;
  names.reserve(static_cast<std::size_t>(task_spec->processes));
  for (int process = 0; process < task_spec->processes; ++process) {
    names.push_back(base::format("{}-{}", name, process));
  }
  return names;
}

}  // namespace gangrun::cluster
