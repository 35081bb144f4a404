#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "job/task_id.h"

// The names of one task's files.
namespace gangrun::cluster {

// The path of a task's log without what tells its streams apart: ".out" and ".err".
std::string log_prefix(std::string_view folder, const job::TaskId& task);
// The name of the file with a task's result: "worker-0".
std::string result_name(const job::TaskId& task);
// None for a file that is no whole result.
std::optional<job::TaskId> task_of_result(std::string_view name);
base::Error no_result(const job::TaskId& task);

}  // namespace gangrun::cluster
