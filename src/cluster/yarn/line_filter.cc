#include "cluster/yarn/line_filter.h"

#include <algorithm>
#include <utility>

namespace gangrun::cluster {

bool is_wanted(const LogRequest& request, const job::TaskId& task, bool is_error) {
  if (request.task && *request.task != task) return false;
  return is_error ? request.errors : request.output;
}

std::vector<LogLine> last_lines(std::vector<LogLine> lines, const LogRequest& request) {
  if (!request.tail) return lines;
  std::map<std::pair<job::TaskId, bool>, std::int64_t> counts;
  std::vector<LogLine> kept;
  for (auto line = lines.rbegin(); line != lines.rend(); ++line) {
    if (++counts[{line->task, line->is_error}] <= *request.tail) kept.push_back(std::move(*line));
  }
  std::reverse(kept.begin(), kept.end());
  return kept;
}

}  // namespace gangrun::cluster
