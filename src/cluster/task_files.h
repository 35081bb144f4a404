#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "job/spec.h"
#include "job/task_id.h"

// The names of one task's files and containers.
namespace gangrun::cluster {

// The path of a task's log without what tells its streams apart: ".out" and ".err".
std::string log_prefix(std::string_view folder, const job::TaskId& task);
// The name of the file with a task's result: "worker-0".
std::string result_name(const job::TaskId& task);
// None for a file that is no whole result.
std::optional<job::TaskId> task_of_result(std::string_view name);
base::Error no_result(const job::TaskId& task);

// The names of the containers that an engine runs for one attempt of a task: one for each of its
// processes, none where it runs in no image. Nobody else's on any host; of letters, digits, '_',
// '.' and '-' only, as job ids and types are.
std::vector<std::string> containers(const job::JobSpec& spec, std::string_view job_id,
                                    const job::TaskId& task, int attempt);

}  // namespace gangrun::cluster
