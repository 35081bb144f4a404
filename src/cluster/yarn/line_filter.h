#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cluster/site.h"

namespace gangrun::cluster {

// Whether a line is asked for, but for its tail.
[[nodiscard]] bool is_wanted(const LogRequest& request, const job::TaskId& task, bool is_error);

// Whether it was written before all that is asked for; one of which nobody knows was not.
[[nodiscard]] bool is_too_old(const LogRequest& request, std::optional<base::WallTime> time);

// A line as the master gives it; one that ends in a carriage return is a progress bar.
LogLine log_line(const job::TaskId& task, bool is_error, std::string text);

// Without the states of progress bars that a later line of their stream replaces.
std::vector<LogLine> without_replaced(std::vector<LogLine> lines);

// Of each stream of each task the last `tail` lines, in their order; all where none is asked for.
std::vector<LogLine> last_lines(std::vector<LogLine> lines, const LogRequest& request);

}  // namespace gangrun::cluster
