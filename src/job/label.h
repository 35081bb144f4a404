#pragma once

#include <optional>
#include <string>

#include "job/problem.h"

namespace gangrun::job {

// The label of nodes, of tasks or of a job's master. Absent: what the cluster says.
Found check_label(const std::optional<std::string>& label, const std::string& path);

}  // namespace gangrun::job
