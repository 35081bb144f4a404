#pragma once

#include <string>
#include <vector>

#include "job/problem.h"

namespace gangrun::job {

// JobSpec::outputs or TaskSpec::outputs.
Found check_outputs(const std::vector<std::string>& outputs, const std::string& path);

}  // namespace gangrun::job
