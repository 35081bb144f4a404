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

}  // namespace gangrun::cluster
