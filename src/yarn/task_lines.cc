#include "yarn/task_lines.h"

#include <algorithm>

#include "base/format.h"

namespace gangrun::yarn {

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
  reads_times_ = nullptr;
  std::string_view file = log.file;
  const bool is_times = file.ends_with(base::kTimesSuffix);
  if (is_times) file.remove_suffix(base::kTimesSuffix.size());
  if (is_times && !request_.times && !request_.since) return false;
  const auto stream = stream_of(file);
  if (!stream || !is_wanted(request_, stream->first, stream->second)) return false;
  if (is_times) {
    reads_times_ = &times_.try_emplace({log.container, *stream}, "").first->second;
    bytes_ += std::min<std::uint64_t>(log.length, base::kMaxTimesBytes);
    GANGRUN_TRY(check());
    return true;
  }
  stream_ = *stream;
  container_ = log.container;
  line_start_ = 0;
  if (lines_.try_emplace(stream_).second) bytes_ += kLineBytes;
  GANGRUN_TRY(check());
  return true;
}

base::Result<> TaskLines::content(std::string_view piece) {
  if (reads_times_ != nullptr) {
    reads_times_->add(piece);
    return {};
  }
  for (std::size_t end = 0; (end = piece.find('\n')) != std::string_view::npos;) {
    part_ += piece.substr(0, end);
    const std::uint64_t length = part_.size() + 1;
    add(std::exchange(part_, {}));
    line_start_ += length;
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
  lines.push_back({count_++, std::move(text), container_, line_start_});
  // Which lines are too old is known only when all have come.
  if (!request_.tail || request_.since || std::cmp_less_equal(lines.size(), *request_.tail)) return;
  bytes_ -= lines.front().text.size() + kLineBytes;
  lines.pop_front();
}

base::Result<> TaskLines::check() const {
  if (bytes_ + part_.size() <= most_bytes_) return {};
  return base::Error{base::Code::kResourceExhausted,
                     base::format("the output is over {} MiB; --tail or one task shows a part",
                                  most_bytes_ >> 20U)};
}

std::optional<base::WallTime> TaskLines::time_of(const Kept& line,
                                                 const std::pair<job::TaskId, bool>& stream) const {
  const auto found = times_.find({line.container, stream});
  return found == times_.end() ? std::nullopt : found->second.at(line.offset);
}

void TaskLines::drop_old() {
  if (!request_.since) return;
  for (auto& [of, lines] : lines_) {
    const std::pair<job::TaskId, bool>& stream = of;
    std::erase_if(lines, [this, &stream](const Kept& line) {
      return is_too_old(request_, time_of(line, stream));
    });
    while (request_.tail && std::cmp_greater(lines.size(), *request_.tail)) lines.pop_front();
  }
}

std::vector<cluster::LogLine> TaskLines::take() {
  drop_old();
  std::vector<cluster::LogLine> all;
  const auto take_first = [&](auto& lines, const auto& stream) {
    Kept& line = lines.front();
    all.push_back({stream.first, stream.second, std::move(line.text), cluster::LineEnd::kNewline,
                   time_of(line, stream)});
    lines.pop_front();
  };
  for (auto& [stream, lines] : lines_) {
    const auto other = stream.second ? lines_.end() : lines_.find({stream.first, true});
    while (!lines.empty()) {
      const bool is_others = other != lines_.end() && !other->second.empty() &&
                             other->second.front().count < lines.front().count;
      if (is_others) {
        take_first(other->second, other->first);
      } else {
        take_first(lines, stream);
      }
    }
  }
  return all;
}

}  // namespace gangrun::yarn
