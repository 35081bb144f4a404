#include "cluster/yarn/task_lines.h"

#include <optional>

#include "base/format.h"
#include "cluster/yarn/line_filter.h"

namespace gangrun::cluster {

namespace {

// "worker-0.err" is what worker:0 wrote to its standard error.
std::optional<std::pair<job::TaskId, bool>> stream_of(std::string_view file) {
  const bool is_error = file.ends_with(".err");
  if (!is_error && !file.ends_with(".out")) return std::nullopt;
  std::string name(file.substr(0, file.size() - 4));
  const std::size_t dash = name.rfind('-');
  if (dash == std::string::npos) return std::nullopt;
  name[dash] = ':';
  const auto task = job::parse_task_id(name);
  if (!task.ok()) return std::nullopt;
  return std::pair{*task, is_error};
}

}  // namespace

base::Result<bool> TaskLines::begin(const hadoop::AggregatedLog& log) {
  const auto stream = stream_of(log.file);
  if (!stream || !is_wanted(request_, stream->first, stream->second)) return false;
  stream_ = *stream;
  if (lines_.try_emplace(stream_).second) bytes_ += kLineBytes;
  GANGRUN_TRY(check());
  return true;
}

base::Result<> TaskLines::content(std::string_view piece) {
  for (std::size_t end = 0; (end = piece.find('\n')) != std::string_view::npos;) {
    part_ += piece.substr(0, end);
    add(std::exchange(part_, {}));
    piece.remove_prefix(end + 1);
    GANGRUN_TRY(check());
  }
  part_ += piece;
  return check();
}

base::Result<> TaskLines::end() {
  if (!part_.empty()) add(std::exchange(part_, {}));
  return check();
}

void TaskLines::add(std::string text) {
  auto& lines = lines_[stream_];
  bytes_ += text.size() + kLineBytes;
  lines.emplace_back(count_++, std::move(text));
  if (!request_.tail || std::cmp_less_equal(lines.size(), *request_.tail)) return;
  bytes_ -= lines.front().second.size() + kLineBytes;
  lines.pop_front();
}

base::Result<> TaskLines::check() const {
  if (bytes_ + part_.size() <= most_bytes_) return {};
  return base::Error{base::Code::kResourceExhausted,
                     base::format("the output is over {} MiB; --tail or one task shows a part",
                                  most_bytes_ >> 20U)};
}

std::vector<LogLine> TaskLines::take() {
  std::vector<LogLine> all;
  const auto take_first = [&all](auto& lines, const auto& stream) {
    all.push_back({stream.first, stream.second, std::move(lines.front().second)});
    lines.pop_front();
  };
  for (auto& [stream, lines] : lines_) {
    const auto other = stream.second ? lines_.end() : lines_.find({stream.first, true});
    while (!lines.empty()) {
      const bool is_others = other != lines_.end() && !other->second.empty() &&
                             other->second.front().first < lines.front().first;
      if (is_others) {
        take_first(other->second, other->first);
      } else {
        take_first(lines, stream);
      }
    }
  }
  return all;
}

}  // namespace gangrun::cluster
