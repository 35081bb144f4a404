#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "cluster/site.h"
#include "job/task_id.h"

// The lines that a request wants, of those that a master or the logs of containers have.
namespace gangrun::cluster {

// Whether the request includes a line, but for its tail.
[[nodiscard]] bool is_wanted(const LogRequest& request, const job::TaskId& task, bool is_error);

// Whether it was written before all that the request includes; one of unknown time was not.
[[nodiscard]] bool is_too_old(const LogRequest& request, std::optional<base::WallTime> time);

// A line as the master gives it; one that ends in a carriage return is a progress bar.
LogLine log_line(const job::TaskId& task, bool is_error, std::string text);

// Without the states of progress bars that a later line of their stream replaces.
std::vector<LogLine> without_replaced(std::vector<LogLine> lines);

// The last `tail` lines of each stream of each task, in their order; all if the request has no
// tail.
std::vector<LogLine> last_lines(std::vector<LogLine> lines, const LogRequest& request);

}  // namespace gangrun::cluster
