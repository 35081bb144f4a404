#include "host/local_logs.h"

#include <fcntl.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/files.h"
#include "base/format.h"
#include "process/wait_for.h"

namespace gangrun::host {

namespace {

using base::Result;

// If the kernel does not tell of changes, the files are read so often.
constexpr base::milliseconds kUnwatchedInterval(200);

constexpr std::uint32_t kRemoval = IN_DELETE | IN_MOVED_FROM;

// All but a last character of several bytes, which may not be whole.
std::size_t whole_characters(std::string_view text) {
  constexpr std::size_t kMaxFollowing = 3;
  const auto has_bits = [&](std::size_t at, unsigned bits) {
    return (static_cast<unsigned char>(text[at]) & 0xC0U) == bits;
  };
  std::size_t end = text.size();
  while (end > 0 && text.size() - end < kMaxFollowing && has_bits(end - 1, 0x80U)) --end;
  return end > 0 && has_bits(end - 1, 0xC0U) ? end - 1 : text.size();
}

// The text that a terminal shows of it in the end.
std::string_view drawn(std::string_view text) {
  while (text.ends_with('\r')) text.remove_suffix(1);
  return text.substr(text.rfind('\r') + 1);  // 0 where there is none
}

std::string name_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? path : path.substr(slash + 1);
}

}  // namespace

Result<std::int64_t> offset_of_tail(const std::string& path, std::int64_t lines) {
  const auto file = base::open_file(path, O_RDONLY);
  if (!file.ok() && file.error().code == base::Code::kNotFound) return std::int64_t{0};
  if (!file.ok()) return file.error();
  struct stat info {};
  if (::fstat(file->get(), &info) != 0) {
    return base::from_errno(errno, base::format("cannot read {}", path));
  }
  std::int64_t end = info.st_size;
  if (lines <= 0) return end;
  std::int64_t found = 0;
  while (end > 0) {
    const std::int64_t start =
        std::max<std::int64_t>(0, end - static_cast<std::int64_t>(kLogBlock));
    GANGRUN_ASSIGN(const std::string block,
                   base::read_at(file->get(), start, static_cast<std::size_t>(end - start),
                                 base::format("cannot read {}", path)));
    for (std::size_t i = block.size(); i > 0; --i) {
      const std::int64_t at = start + static_cast<std::int64_t>(i) - 1;
      // The end of the last line does not begin another one.
      if (block[i - 1] != '\n' || at + 1 == info.st_size) continue;
      if (++found == lines) return at + 1;
    }
    end = start;
  }
  return std::int64_t{0};
}

Result<std::unique_ptr<LocalLogs>> LocalLogs::open(const std::string& folder,
                                                   const std::vector<job::TaskStatus>& tasks,
                                                   const cluster::LogRequest& request) {
  std::unique_ptr<LocalLogs> logs(std::make_unique<LocalLogs>(LocalLogs()));
  logs->as_it_is_ = request.as_it_is;
  logs->redraw_pace_ = request.redraw_pace;
  for (const job::TaskStatus& task : tasks) {
    if (request.task && task.task != *request.task) continue;
    if (request.output) logs->add(task, false);
    if (request.errors) logs->add(task, true);
  }
  if (logs->sources_.empty()) {
    return base::not_found(base::format("the job has no task {}",
                                        request.task ? job::to_string(*request.task) : "at all"));
  }
  if (::access(folder.c_str(), F_OK) != 0 && errno == ENOENT) {
    return base::not_found(base::format("there are no logs at {}", folder));
  }
  logs->folder_ = folder;
  for (std::size_t i = 0; i < logs->sources_.size(); ++i) {
    Source& source = logs->sources_[i];
    GANGRUN_TRY(seek(source, request));
    logs->queue(i);
  }
  return logs;
}

Result<> LocalLogs::seek(Source& source, const cluster::LogRequest& request) {
  if (request.tail) {
    GANGRUN_ASSIGN(source.offset, offset_of_tail(source.path, *request.tail));
  }
  if (request.times || request.since) source.times.emplace(source.path);
  if (request.since) {
    GANGRUN_ASSIGN(const std::int64_t end, offset_of_tail(source.path, 0));
    source.times->read_on();
    // A log of which no times are known is given whole.
    const auto from = source.times->since(*request.since);
    if (from) source.offset = std::max(source.offset, static_cast<std::int64_t>(*from));
    if (!from && !source.times->empty()) source.offset = end;
  }
  source.line_start = source.offset;
  return {};
}

std::optional<base::WallTime> LocalLogs::time_of(const Source& source) {
  return source.times ? source.times->at(static_cast<std::uint64_t>(source.line_start))
                      : std::nullopt;
}

void LocalLogs::watch() {
  if (std::exchange(is_watch_tried_, true)) return;
  // Users have only so many of these; without one the logs are read now and then.
  notify_.reset(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC));
  if (notify_.valid() &&
      ::inotify_add_watch(notify_.get(), folder_.c_str(), IN_CREATE | IN_MODIFY | kRemoval) < 0) {
    notify_.reset();
  }
  // It tells nothing of lines that came before.
  queue_all();
}

void LocalLogs::add(const job::TaskStatus& task, bool is_error) {
  Source source;
  source.task = task.task;
  source.is_error = is_error;
  source.path = task.log_path + (is_error ? ".err" : ".out");
  by_name_[name_of(source.path)] = sources_.size();
  sources_.push_back(std::move(source));
}

void LocalLogs::queue(std::size_t index) {
  if (std::exchange(sources_[index].queued, true)) return;
  queue_.push_back(index);
}

void LocalLogs::queue_all() {
  for (std::size_t i = 0; i < sources_.size(); ++i) queue(i);
}

void LocalLogs::read_notifications() {
  if (!notify_.valid()) return queue_all();
  alignas(inotify_event) std::array<char, 16384> buffer{};
  while (true) {
    const ssize_t got = ::read(notify_.get(), buffer.data(), buffer.size());
    if (got <= 0) return;
    for (std::size_t at = 0; at < static_cast<std::size_t>(got);) {
      inotify_event event{};
      std::memcpy(&event, buffer.data() + at, sizeof(event));
      if ((event.mask & IN_Q_OVERFLOW) != 0) {
        queue_all();
      } else if (event.len > 0) {
        const auto found = by_name_.find(buffer.data() + at + sizeof(event));
        if (found != by_name_.end()) {
          Source& source = sources_[found->second];
          source.removed = source.removed || (event.mask & kRemoval) != 0;
          queue(found->second);
        }
      }
      at += sizeof(event) + event.len;
    }
  }
}

void LocalLogs::give_piece(Source& source, std::size_t bytes,
                           std::vector<cluster::LogLine>& lines) {
  if (bytes == 0) return;
  lines.push_back({source.task, source.is_error, source.partial.substr(0, bytes),
                   cluster::LineEnd::kGoesOn, time_of(source)});
  source.goes_on = true;
  source.partial.erase(0, bytes);
}

// Somebody has cut the file: what is there now does not go on with the line that was being read.
void LocalLogs::begin_again(Source& source, std::vector<cluster::LogLine>& lines) {
  if (!source.partial.empty() || source.goes_on) {
    lines.push_back({source.task, source.is_error, std::exchange(source.partial, {}),
                     cluster::LineEnd::kNewline, time_of(source)});
  }
  source.goes_on = false;
  source.redraw_at.reset();
  source.offset = source.line_start = 0;
}

// Whether there may be more to read.
Result<bool> LocalLogs::read_block(Source& source, std::vector<cluster::LogLine>& lines,
                                   std::size_t& bytes) {
  const auto file = base::open_file(source.path, O_RDONLY);
  // It appears with its first byte, and does not go again.
  const bool is_missing = !file.ok() && file.error().code == base::Code::kNotFound;
  if (is_missing && source.offset == 0 && !source.removed) return false;
  if (is_missing) {
    return base::Error{base::Code::kDataLoss,
                       base::format("{} has been removed; what {} writes is not shown any more",
                                    source.path, job::to_string(source.task))};
  }
  if (!file.ok()) return file.error();
  struct stat info {};
  if (::fstat(file->get(), &info) != 0) {
    return base::from_errno(errno, base::format("cannot read {}", source.path));
  }
  if (info.st_size < source.offset) begin_again(source, lines);
  GANGRUN_ASSIGN(const std::string block,
                 base::read_at(file->get(), source.offset, kLogBlock,
                               base::format("cannot read {}", source.path)));
  // Noted before the lines are written, so these are there.
  if (source.times && !block.empty()) source.times->read_on();
  source.offset += static_cast<std::int64_t>(block.size());
  bytes += block.size();
  std::string_view left = block;
  while (true) {
    const std::size_t end = left.find('\n');
    if (end == std::string_view::npos) break;
    source.partial += left.substr(0, end);
    if (!as_it_is_) source.partial = drawn(source.partial);
    lines.push_back({source.task, source.is_error, std::exchange(source.partial, {}),
                     cluster::LineEnd::kNewline, time_of(source)});
    source.goes_on = false;
    source.redraw_at.reset();
    left.remove_prefix(end + 1);
    source.line_start = source.offset - static_cast<std::int64_t>(left.size());
  }
  source.partial += left;
  if (as_it_is_) {
    give_piece(source, source.partial.size(), lines);
    return block.size() == kLogBlock;
  }
  if (source.partial.find('\r') != std::string::npos) {
    // Text that was drawn over is of no use any more; a line feed may still follow the last return.
    const bool returned = source.partial.ends_with('\r');
    source.partial = std::string(drawn(source.partial)) + (returned ? "\r" : "");
    if (!source.redraw_at) source.redraw_at = base::SystemClock().now() + redraw_pace_;
  }
  if (source.partial.size() >= kMaxWholeLine) {
    give_piece(source, whole_characters(source.partial), lines);
  }
  return block.size() == kLogBlock;
}

// When the next one is to be given.
std::optional<base::Instant> LocalLogs::give_redrawn(base::Instant now,
                                                     std::vector<cluster::LogLine>& lines) {
  std::optional<base::Instant> next;
  for (Source& source : sources_) {
    if (!source.redraw_at) continue;
    if (now < *source.redraw_at) {
      next = next ? std::min(*next, *source.redraw_at) : *source.redraw_at;
      continue;
    }
    source.redraw_at.reset();
    lines.push_back({source.task, source.is_error, std::string(drawn(source.partial)),
                     cluster::LineEnd::kRedrawn, time_of(source)});
  }
  return next;
}

Result<> LocalLogs::read_queued(std::vector<cluster::LogLine>& lines) {
  std::size_t bytes = 0;
  while (!queue_.empty() && bytes < kMaxBatchBytes) {
    Source& source = sources_[queue_.front()];
    GANGRUN_ASSIGN(const bool more, read_block(source, lines, bytes));
    if (more) continue;
    source.queued = false;
    queue_.pop_front();
  }
  return {};
}

Result<std::vector<cluster::LogLine>> LocalLogs::next(base::Instant deadline) {
  std::vector<cluster::LogLine> lines;
  const base::SystemClock clock;
  while (true) {
    if (notify_.valid() || queue_.empty()) read_notifications();
    GANGRUN_TRY(read_queued(lines));
    const base::Instant now = clock.now();
    const auto redraw_at = give_redrawn(now, lines);
    if (!lines.empty() || now >= deadline) return lines;
    if (!is_watch_tried_) watch();
    if (!queue_.empty()) continue;
    const base::Instant until = redraw_at ? std::min(deadline, *redraw_at) : deadline;
    if (notify_.valid()) {
      (void)process::wait_readable(notify_.get(), until);
    } else {
      (void)process::wait_any_readable({}, std::min(until, now + kUnwatchedInterval));
    }
  }
}

std::vector<cluster::LogLine> LocalLogs::rest() {
  std::vector<cluster::LogLine> lines;
  for (Source& source : sources_) {
    if (!as_it_is_) source.partial = drawn(source.partial);
    if (source.partial.empty() && !std::exchange(source.goes_on, false)) continue;
    lines.push_back({source.task, source.is_error, std::exchange(source.partial, {}),
                     cluster::LineEnd::kNone, time_of(source)});
  }
  return lines;
}

}  // namespace gangrun::host
