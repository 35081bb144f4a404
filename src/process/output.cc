#include "process/output.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "base/clock.h"
#include "base/files.h"
#include "base/sizes.h"
#include "base/strings.h"

namespace gangrun::process {

namespace {

// A pipe holds at most this (1 MiB unless root made it larger), so this is all that ended writers
// can have left in it.
constexpr std::size_t kMaxPipeBytes = std::size_t{1} << 20U;
// Output that is held for the end is lost in pieces of so many bytes, or of one read.
constexpr std::size_t kPieceBytes = std::size_t{4} << 10U;
// The ends of one run take this part of the limit at most, and so many runs of a task have theirs.
constexpr std::uint64_t kPartsOfLimit = 32;
constexpr std::uint64_t kRunsWithEnds = 8;

}  // namespace

void LogRoom::set_ends_aside(std::size_t pumps) {
  const std::uint64_t wanted = std::min(limit / kPartsOfLimit / pumps, kMaxEndBytes);
  end = std::min(wanted, left / pumps);
  left -= std::min(left, kRunsWithEnds * wanted * pumps);
}

std::string_view LogRoom::take(std::string_view text) {
  if (text.size() > left) {
    text = text.substr(0, left);
    text = text.substr(0, text.rfind('\n') + 1);  // 0 where there is none
    left = 0;
  } else {
    left -= text.size();
  }
  return text;
}

OutputPump::OutputPump(base::UniqueFd pipe, std::string log_path, Callbacks callbacks)
    : pipe_(std::move(pipe)),
      log_path_(std::move(log_path)),
      times_(log_path_),
      callbacks_(std::move(callbacks)) {
  const int flags = ::fcntl(pipe_.get(), F_GETFL);
  if (flags >= 0 && (flags & O_NONBLOCK) == 0) ::fcntl(pipe_.get(), F_SETFL, flags | O_NONBLOCK);
}

bool OutputPump::on_readable() {
  // Not initialised: read() fills what is used.
  std::array<char, 65536> buffer;  // NOLINT(cppcoreguidelines-pro-type-member-init)
  std::size_t taken = 0;
  while (taken < kMaxReadBytes) {
    const ssize_t got = ::read(pipe_.get(), buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return errno == EAGAIN;
    if (got == 0) return false;
    taken += static_cast<std::size_t>(got);
    take({buffer.data(), static_cast<std::size_t>(got)});
  }
  return true;
}

void OutputPump::finish() {
  constexpr std::size_t kMaxReads = kMaxPipeBytes / kMaxReadBytes + 1;
  for (std::size_t i = 0; i < kMaxReads; ++i) {
    const std::uint64_t so_far = bytes_;
    if (!on_readable() || bytes_ == so_far) break;
  }
  if (!line_.empty() || returned_) end_line();
  if (!held_back_.empty()) {
    held_back_ += '\n';
    write_shared(held_back_.size());
  }
  if (room_ && room_->left == 0) write_end();
}

void OutputPump::take(std::string_view text) {
  bytes_ += text.size();
  log(text);
  while (!text.empty()) {
    const std::size_t end = std::min(text.find_first_of("\r\n"), text.size());
    if (end > 0) append_to_line(text.substr(0, end));
    if (end == text.size()) return;
    if (text[end] == '\n') {
      end_line();
    } else {
      returned_ = redrawn_ = true;
    }
    text.remove_prefix(end + 1);
  }
}

void OutputPump::append_to_line(std::string_view text) {
  if (returned_) {
    line_.clear();
    left_out_ = 0;
    returned_ = false;
  }
  const std::size_t room = kMaxLineBytes - line_.size();
  if (text.size() > room) left_out_ += text.size() - room;
  line_.append(text.substr(0, room));
}

void OutputPump::end_line() {
  if (left_out_ > 0) line_ += base::format(" … ({} bytes more in the log)", left_out_);
  left_out_ = 0;
  returned_ = redrawn_ = false;
  if (callbacks_.on_line) callbacks_.on_line(prefix_ + line_);
  keep_line();
}

void OutputPump::tell_redrawn() {
  if (!std::exchange(redrawn_, false) || line_.empty()) return;
  if (callbacks_.on_line) callbacks_.on_line(prefix_ + line_ + '\r');
}

void OutputPump::keep_line() {
  kept_bytes_ += line_.size();
  kept_.push_back(std::exchange(line_, {}));
  while (kept_.size() > kMaxTracebackLines ||
         (kept_bytes_ > kMaxTracebackBytes && kept_.size() > kKeptLines)) {
    kept_bytes_ -= kept_.front().size();
    kept_.pop_front();
  }
}

void OutputPump::log(std::string_view text) {
  if (prefix_.empty()) return write_log(text);
  held_back_ += text;
  // A carriage return ends a line here: a progress bar is seen while it moves.
  const std::size_t end = held_back_.find_last_of("\r\n") + 1;  // 0 where there is none
  const std::size_t ready = held_back_.size() - end > kMaxLineBytes ? held_back_.size() : end;
  if (ready > 0) write_shared(ready);
}

// Writes so many bytes of what is held back, with the prefix in front of each line, in one write.
void OutputPump::write_shared(std::size_t bytes) {
  std::string text;
  for (std::string_view rest = std::string_view(held_back_).substr(0, bytes); !rest.empty();) {
    const std::size_t end = rest.find_first_of("\r\n");
    const std::string_view line = rest.substr(0, end == std::string_view::npos ? end : end + 1);
    // A line feed behind a carriage return ends no other line.
    if (!is_in_line_ && line != "\n") text += prefix_;
    text += line;
    is_in_line_ = end == std::string_view::npos;
    rest.remove_prefix(line.size());
  }
  held_back_.erase(0, bytes);
  write_log(text);
}

void OutputPump::write_log(std::string_view text) {
  const base::WallTime now = base::SystemClock().wall_now();
  const std::string_view fitting = room_ ? room_->take(text) : text;
  if (!fitting.empty()) write_or_lose(fitting, now);
  if (fitting.size() < text.size()) hold_for_end(text.substr(fitting.size()), now);
}

void OutputPump::write_or_lose(std::string_view text, base::WallTime time) {
  std::string_view rest = text;
  const auto written = append_to_log(rest, time);
  if (text.substr(0, text.size() - rest.size()).find('\n') != std::string_view::npos) {
    is_in_lost_line_ = false;
  }
  if (!written.ok()) lose(rest, written.error());
}

// A line of which a piece is lost counts once, though its end may find room.
void OutputPump::lose(std::string_view text, const base::Error& why) {
  const bool goes_on = !text.ends_with('\n');
  const auto lost = static_cast<std::uint64_t>(std::count(text.begin(), text.end(), '\n')) +
                    (goes_on ? 1U : 0U) - (std::exchange(is_in_lost_line_, goes_on) ? 1U : 0U);
  lost_lines_ += lost;
  lost_here_ += lost;
  if (log_error_) return;
  log_error_ = why;
  if (callbacks_.on_log_failed) callbacks_.on_log_failed(*log_error_);
}

base::Error OutputPump::limit_is_reached() const {
  return {base::Code::kResourceExhausted,
          base::format("log_limit ({}) is reached", base::size_text(room_->limit))};
}

void OutputPump::hold_for_end(std::string_view text, base::WallTime time) {
  const bool goes_on = !end_.empty() && time - end_.back().time < base::kTimesPace &&
                       end_.back().text.size() < kPieceBytes;
  if (!goes_on) end_.push_back({time});
  end_.back().text += text;
  end_bytes_ += text.size();
  while (!end_.empty() && end_bytes_ - end_.front().text.size() >= room_->end) {
    lose(end_.front().text, limit_is_reached());
    end_bytes_ -= end_.front().text.size();
    end_.pop_front();
  }
}

// In whole lines, where something before them is lost.
void OutputPump::write_end() {
  std::uint64_t too_many = end_bytes_ - std::min(end_bytes_, room_->end);
  while (!end_.empty() && (too_many > 0 || is_in_lost_line_)) {
    std::string& text = end_.front().text;
    const std::size_t line = std::min(text.find('\n'), text.size() - 1) + 1;
    const std::size_t lost = too_many > 0 ? std::exchange(too_many, 0) : line;
    lose(std::string_view(text).substr(0, lost), limit_is_reached());
    text.erase(0, lost);
    if (text.empty()) end_.pop_front();
  }
  end_bytes_ = 0;
  for (const Piece& piece : std::exchange(end_, {})) write_or_lose(piece.text, piece.time);
  (void)log_lost_lines();
}

base::Result<> OutputPump::open_log() {
  if (log_.valid()) return {};
  GANGRUN_ASSIGN(log_, base::open_file(log_path_, O_WRONLY | O_CREAT | O_APPEND, 0600));
  return {};
}

// Takes from `text` what is in the log.
base::Result<> OutputPump::append_to_log(std::string_view& text, base::WallTime time) {
  GANGRUN_TRY(open_log());
  GANGRUN_TRY(log_lost_lines());
  const off_t end = has_times_ ? ::lseek(log_.get(), 0, SEEK_END) : -1;
  if (end >= 0) times_.note(static_cast<std::uint64_t>(end), text, time);
  return base::write_and_take(log_.get(), text, log_path_);
}

base::Result<> OutputPump::log_lost_lines() {
  if (lost_here_ == 0) return {};
  GANGRUN_TRY(open_log());
  const std::string words =
      fmt::format("\n{}gangrun: {} {} missing here: {}\n", prefix_,
                  base::count_text(static_cast<std::int64_t>(lost_here_), "line"),
                  lost_here_ == 1 ? "is" : "are", log_error_->message);
  GANGRUN_TRY(base::write_all(log_.get(), words, log_path_));
  lost_here_ = 0;
  return {};
}

std::vector<std::string> OutputPump::last_lines() const {
  const std::size_t count = std::min(kept_.size(), kKeptLines);
  return {kept_.end() - static_cast<std::ptrdiff_t>(count), kept_.end()};
}

std::optional<std::string> OutputPump::traceback() const {
  return python_traceback({kept_.begin(), kept_.end()});
}

}  // namespace gangrun::process
