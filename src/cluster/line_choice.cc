#include "cluster/line_choice.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <utility>

namespace gangrun::cluster {

bool is_wanted(const LogRequest& request, const job::TaskId& task, bool is_error) {
  if (request.task && *request.task != task) return false;
  return is_error ? request.errors : request.output;
}

bool is_too_old(const LogRequest& request, std::optional<base::WallTime> time) {
  return request.since && time && *time < *request.since;
}

LogLine log_line(const job::TaskId& task, bool is_error, std::string text) {
  const bool is_redrawn = text.ends_with('\r');
  if (is_redrawn) text.pop_back();
  return {task, is_error, std::move(text), is_redrawn ? LineEnd::kRedrawn : LineEnd::kNewline};
}

std::vector<LogLine> without_replaced(std::vector<LogLine> lines) {
  std::set<std::pair<job::TaskId, bool>> seen;
  std::vector<LogLine> kept;
  for (auto line = lines.rbegin(); line != lines.rend(); ++line) {
    const bool has_later = !seen.insert({line->task, line->is_error}).second;
    if (line->end != LineEnd::kRedrawn || !has_later) kept.push_back(std::move(*line));
  }
  std::reverse(kept.begin(), kept.end());
  return kept;
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
