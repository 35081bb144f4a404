#pragma once

#include <compare>
#include <string>
#include <string_view>

#include "base/result.h"

namespace gangrun::job {

// The place of a task in its job, written "worker:3" wherever people read it.
struct TaskId {
  std::string type;
  int index = 0;

  // NOLINTNEXTLINE(modernize-use-nullptr): the zero that a defaulted comparison compares with
  friend auto operator<=>(const TaskId&, const TaskId&) = default;
};

std::string to_string(const TaskId& task);

// "worker:3" to a TaskId; whether the job has such a task is not checked.
base::Result<TaskId> parse_task_id(std::string_view text);

// The name of a task type or a port: it can stand in file names, variables and host names.
inline constexpr std::string_view kTypeNameForm =
    "a letter, then at most 39 letters, digits, '_' or '-'";
[[nodiscard]] bool is_valid_type_name(std::string_view name);

}  // namespace gangrun::job
