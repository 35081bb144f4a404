#include "client/recent_lines.h"

#include <algorithm>

namespace gangrun::client {

void RecentLines::add(const std::vector<cluster::LogLine>& lines) {
  const std::size_t skipped = lines.size() > kMost ? lines.size() - kMost : 0;
  for (std::size_t i = skipped; i < lines.size(); ++i) {
    lines_.push_back(lines[i]);
    if (lines_.back().text.size() > kLongest) lines_.back().text.clear();
    if (lines_.size() > kMost) lines_.pop_front();
  }
}

bool RecentLines::have(const job::TaskId& task, const std::vector<std::string>& lines) const {
  return std::all_of(lines.begin(), lines.end(), [&](const std::string& wanted) {
    return std::any_of(lines_.begin(), lines_.end(), [&](const cluster::LogLine& line) {
      return line.task == task && line.text == wanted;
    });
  });
}

}  // namespace gangrun::client
