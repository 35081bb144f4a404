#include "base/log_times.h"

#include <fcntl.h>

#include <algorithm>

#include "base/files.h"
#include "base/format.h"
#include "base/strings.h"

namespace gangrun::base {

namespace {

constexpr std::size_t kBlock = std::size_t{1} << 20U;
// The longest entry: two numbers of 64 bits.
constexpr std::size_t kMaxEntry = 64;

std::int64_t milliseconds_of(WallTime time) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(time.time_since_epoch()).count();
}

}  // namespace

void LogTimes::note(std::uint64_t offset, std::string_view text, WallTime now) {
  // A line that comes again, after a broken connection, has its time already.
  if (offset < end_) {
    text.remove_prefix(std::min<std::uint64_t>(end_ - offset, text.size()));
    offset = end_;
  }
  if (text.empty()) return;
  const bool is_line = begins_line(offset);
  end_ = offset + text.size();
  ends_line_ = text.ends_with('\n');
  const auto pace =
      kTimesPace * (std::int64_t{1} << std::min<std::uint64_t>(bytes_ / kTimesStep, 20));
  // A clock that was set back is no reason to wait.
  if (last_ && now >= *last_ && now - *last_ < pace) return;
  const std::size_t line = is_line ? 0 : text.find('\n') + 1;
  if (!is_line && (line == 0 || line == text.size())) return;
  last_ = now;
  const std::string entry = format("{} {}\n", offset + line, milliseconds_of(now));
  const auto file = open_file(path_, O_WRONLY | O_CREAT | O_APPEND, 0600);
  if (file.ok() && write_all(file->get(), entry, path_).ok()) bytes_ += entry.size();
}

// Only the log tells what was there before, of another run or another writer.
bool LogTimes::begins_line(std::uint64_t offset) const {
  if (offset == 0) return true;
  if (offset == end_) return ends_line_;
  const auto log = open_file(log_path_, O_RDONLY);
  if (!log.ok()) return false;
  const auto before = read_at(log->get(), static_cast<std::int64_t>(offset) - 1, 1, log_path_);
  return before.ok() && *before == "\n";
}

void KnownTimes::read_on() {
  const auto file = open_file(path_, O_RDONLY);
  if (!file.ok()) return;
  while (read_ < kMaxTimesBytes) {
    const auto block =
        read_at(file->get(), static_cast<std::int64_t>(read_), kBlock, "cannot read " + path_);
    if (!block.ok() || block->empty()) return;
    read_ += block->size();
    add(*block);
  }
}

void KnownTimes::add(std::string_view text) {
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    if (part_.size() < kMaxEntry) part_ += text.substr(0, std::min(end, kMaxEntry));
    if (end == std::string_view::npos) return;
    text.remove_prefix(end + 1);
    const std::string entry = std::exchange(part_, {});
    const auto numbers = split(entry, ' ');
    if (numbers.size() != 2) continue;
    const auto offset = parse_integer(numbers[0]);
    const auto time = parse_integer(numbers[1]);
    if (!offset || !time || *offset < 0) continue;
    const auto at = static_cast<std::uint64_t>(*offset);
    // A log that begins again has no lines of before.
    if (!entries_.empty() && at < entries_.back().first) entries_.clear();
    entries_.emplace_back(at, *time);
  }
}

std::optional<WallTime> KnownTimes::at(std::uint64_t offset) const {
  const auto after =
      std::ranges::upper_bound(entries_, offset, {}, [](const auto& entry) { return entry.first; });
  if (after == entries_.begin()) return std::nullopt;
  return WallTime(std::chrono::milliseconds(std::prev(after)->second));
}

// Clocks may have been set back, so this is no order to search in.
std::optional<std::uint64_t> KnownTimes::since(WallTime time) const {
  const std::int64_t from = milliseconds_of(time);
  const auto found =
      std::ranges::find_if(entries_, [from](const auto& entry) { return entry.second >= from; });
  if (found == entries_.end()) return std::nullopt;
  return found->first;
}

}  // namespace gangrun::base
