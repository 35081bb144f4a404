#pragma once

#include <string>
#include <vector>

#include "jobfile/problem.h"

namespace gangrun::jobfile {

// JobSpec::outputs or TaskSpec::outputs.
Found check_outputs(const std::vector<std::string>& outputs, const std::string& path);

}  // namespace gangrun::jobfile
