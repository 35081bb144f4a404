#include "registry/line_store.h"

#include <algorithm>

namespace gangrun::registry {

namespace {

// What a line costs beside its text.
constexpr std::size_t kLineOverhead = 64;

std::size_t cost_of(const KeptLine& line) { return line.text.size() + kLineOverhead; }

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

KeptLines LineStore::from(std::int64_t from) const {
  KeptLines result;
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

base::Json to_json(const KeptLines& lines) {
  base::Json list = base::Json::array();
  for (const KeptLine& line : lines.lines) {
    base::Json item = {{"task", job::to_string(line.task)},
                       {"stream", line.is_error ? "err" : "out"},
                       {"text", line.text}};
    if (line.time) item["time"] = base::to_iso8601(*line.time);
    list.push_back(std::move(item));
  }
  return {{"next", lines.next}, {"missed", lines.missed}, {"lines", std::move(list)}};
}

base::Result<KeptLines> kept_lines_from_json(const base::Json& json) {
  KeptLines result;
  GANGRUN_ASSIGN(result.next, base::json_member<std::int64_t>(json, "next"));
  GANGRUN_ASSIGN(result.missed, base::json_member<std::int64_t>(json, "missed"));
  const auto lines = json.find("lines");
  if (lines == json.end() || !lines->is_array()) {
    return base::invalid_argument("\"lines\" must be an array");
  }
  for (const base::Json& item : *lines) {
    KeptLine line;
    GANGRUN_ASSIGN(const auto task, base::json_member<std::string>(item, "task"));
    GANGRUN_ASSIGN(line.task, job::parse_task_id(task));
    GANGRUN_ASSIGN(const auto stream, base::json_member<std::string>(item, "stream"));
    line.is_error = stream == "err";
    GANGRUN_ASSIGN(line.text, base::json_member<std::string>(item, "text"));
    GANGRUN_ASSIGN(const auto time, base::json_member_or<std::string>(item, "time", ""));
    if (!time.empty()) {
      GANGRUN_ASSIGN(line.time, base::parse_iso8601(time));
    }
    result.lines.push_back(std::move(line));
  }
  return result;
}

}  // namespace gangrun::registry
