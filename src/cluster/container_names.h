#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "job/spec.h"
#include "job/task_id.h"

namespace gangrun::cluster {

// The names of the containers that an engine runs for one attempt of a task: one for each of its
// processes, none where it runs in no image. Nobody else's on any host; of letters, digits, '_',
// '.' and '-' only, as job ids and types are.
std::vector<std::string> containers(const job::JobSpec& spec, std::string_view job_id,
                                    const job::TaskId& task, int attempt);

}  // namespace gangrun::cluster
