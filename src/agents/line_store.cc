#include "agents/line_store.h"

#include <algorithm>

#include "job/described.h"

namespace gangrun::agents {

namespace {

// The cost of a line beside its text.
constexpr std::size_t kLineOverhead = 64;

std::size_t cost_of(const wire::KeptLine& line) { return line.text.size() + kLineOverhead; }

}  // namespace

void LineStore::add(const job::TaskId& task, bool is_error, std::string_view text,
                    std::optional<base::WallTime> time) {
  lines_.push_back({task, is_error, std::string(text), time});
  bytes_ += cost_of(lines_.back());
  while (bytes_ > kMaxKeptLineBytes && lines_.size() > 1) {
    bytes_ -= cost_of(lines_.front());
    lines_.pop_front();
    ++first_;
  }
}

wire::KeptLines LineStore::from(std::int64_t from) const {
  wire::KeptLines result;
  const std::int64_t start = std::clamp(from, first_, next());
  result.missed = std::max<std::int64_t>(start - from, 0);
  result.next = start;
  std::size_t bytes = 0;
  for (auto i = static_cast<std::size_t>(start - first_); i < lines_.size(); ++i) {
    bytes += cost_of(lines_[i]);
    if (bytes > kMaxLinesAnswerBytes && !result.lines.empty()) break;
    result.lines.push_back(lines_[i]);
    ++result.next;
  }
  return result;
}

}  // namespace gangrun::agents
