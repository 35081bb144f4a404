#pragma once

#include <optional>
#include <string>

#include "jobfile/problem.h"

namespace gangrun::jobfile {

// The label of nodes, of tasks or of a job's master. Absent: what the cluster says.
Found check_label(const std::optional<std::string>& label, const std::string& path);

}  // namespace gangrun::jobfile
