#include "cluster/task_files.h"

#include "base/format.h"

namespace gangrun::cluster {

std::string log_prefix(std::string_view folder, const job::TaskId& task) {
  return base::format("{}/{}-{}", folder, task.type, task.index);
}

std::string result_name(const job::TaskId& task) {
  return base::format("{}-{}", task.type, task.index);
}

std::optional<job::TaskId> task_of_result(std::string_view name) {
  const std::size_t dash = name.rfind('-');
  if (dash == std::string_view::npos) return std::nullopt;
  const auto task =
      job::parse_task_id(base::format("{}:{}", name.substr(0, dash), name.substr(dash + 1)));
  return task.ok() ? std::optional(*task) : std::nullopt;
}

base::Error no_result(const job::TaskId& task) {
  return base::not_found(
      base::format("{} has written no result (GANGRUN_RESULT_FILE)", job::to_string(task)));
}

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
