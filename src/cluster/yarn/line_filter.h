#pragma once

#include <map>
#include <utility>
#include <vector>

#include "cluster/site.h"

namespace gangrun::cluster {

// Whether a line is asked for, but for its tail.
[[nodiscard]] bool is_wanted(const LogRequest& request, const job::TaskId& task, bool is_error);

// Of each stream of each task the last `tail` lines, in their order; all where none is asked for.
std::vector<LogLine> last_lines(std::vector<LogLine> lines, const LogRequest& request);

}  // namespace gangrun::cluster
