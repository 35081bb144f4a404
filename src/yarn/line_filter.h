#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cluster/site.h"

namespace gangrun::yarn {

// Whether the request includes a line, but for its tail.
[[nodiscard]] bool is_wanted(const cluster::LogRequest& request, const job::TaskId& task,
                             bool is_error);

// Whether it was written before all that the request includes; one of unknown time was not.
[[nodiscard]] bool is_too_old(const cluster::LogRequest& request,
                              std::optional<base::WallTime> time);

// A line as the master gives it; one that ends in a carriage return is a progress bar.
cluster::LogLine log_line(const job::TaskId& task, bool is_error, std::string text);

// Without the states of progress bars that a later line of their stream replaces.
std::vector<cluster::LogLine> without_replaced(std::vector<cluster::LogLine> lines);

// The last `tail` lines of each stream of each task, in their order; all if the request has no
// tail.
std::vector<cluster::LogLine> last_lines(std::vector<cluster::LogLine> lines,
                                         const cluster::LogRequest& request);

}  // namespace gangrun::yarn
