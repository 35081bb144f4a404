#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/format.h"
#include "base/log_times.h"
#include "base/result.h"
#include "base/unique_fd.h"
#include "process/traceback.h"  // IWYU pragma: export

namespace gangrun::process {

// A longer line is handed on in its first so many bytes, with the number of those left out. The log
// has it all.
inline constexpr std::size_t kMaxLineBytes = std::size_t{16} << 10U;
// Read at a time, so that a flood of one process does not keep the others waiting.
inline constexpr std::size_t kMaxReadBytes = std::size_t{256} << 10U;
// The lines of a failed task's output that are shown.
inline constexpr std::size_t kKeptLines = 20;
// The lines that are kept for traceback(): a long chain of exceptions does not fit kKeptLines.
inline constexpr std::size_t kMaxTracebackLines = 400;
inline constexpr std::size_t kMaxTracebackBytes = std::size_t{128} << 10U;

// The most bytes of an end that is kept for a log with a limit.
inline constexpr std::uint64_t kMaxEndBytes = std::uint64_t{256} << 10U;

// The room for the log of a task, which is that of all its pumps. Once something has not found
// room, there is none.
struct LogRoom {
  std::uint64_t limit = 0;
  std::uint64_t left = 0;
  // The bytes that each pump holds of its last output, for which there is no room, until its end.
  std::uint64_t end = 0;

  // Sets a part of what is left aside for the ends of so many pumps, in this run and in later ones:
  // at most a quarter of the limit.
  void set_ends_aside(std::size_t pumps);
  // As much of `text` as there is room for, in whole lines.
  std::string_view take(std::string_view text);
};

// The reading end of a process's output: every byte goes to a log file, with the times of its lines
// in another one beside it (base/log_times.h), every line to a callback,
// and the last lines are kept. A log that cannot be written (a full disk) is told once and the pipe
// is read on, so that the process never blocks for it. What is not kept is counted; when there is
// room again, the log goes on with a line that says how much is missing.
//
// What a progress bar overwrites by a carriage return is in the log but not in a line: the line
// is what a terminal would show in the end.
class OutputPump {
 public:
  struct Callbacks {
    std::function<void(std::string_view line)> on_line;  // without its end
    std::function<void(const base::Error& error)> on_log_failed;
  };

  // Makes `pipe` non-blocking. The log is appended to, and made 0600 with the first byte.
  OutputPump(base::UniqueFd pipe, std::string log_path, Callbacks callbacks);

  // For a log that other pumps write too: it gets whole lines, so that none of one process stands
  // in the middle of another's, with "[label] " in front, as lines have that are handed on. What
  // has no end yet is held back, up to kMaxLineBytes.
  void share_log(std::string_view label) { prefix_ = base::format("[{}] ", label); }

  // The log goes to this descriptor, with no times beside it, in place of a file.
  // `name`: for errors.
  void log_to(base::UniqueFd output, std::string name) {
    log_ = std::move(output);
    log_path_ = std::move(name);
    has_times_ = false;
  }

  // The log gets no more than there is room for. The last of what comes then is written at the end;
  // the rest is counted as lost, and a line before the end says how much that is.
  void limit_log(std::shared_ptr<LogRoom> room) { room_ = std::move(room); }

  [[nodiscard]] int fd() const { return pipe_.get(); }
  // Reads what is there, at most kMaxReadBytes. False when nothing will come any more.
  bool on_readable();
  // Reads the rest without waiting, and hands on a last line without an end. To be called when the
  // writers have ended; if one escaped and still writes, no more than a pipe holds is read.
  void finish();

  // Hands on the current line and a carriage return, if carriage returns have drawn it again since
  // the last call: how a progress bar is seen before its line ends. As often as the caller wants to
  // show it. No other line ends so; the next one replaces it.
  void tell_redrawn();

  // All that was read so far.
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }
  // The last kKeptLines, oldest first.
  [[nodiscard]] std::vector<std::string> last_lines() const;
  // The last Python traceback in the last kMaxTracebackLines.
  [[nodiscard]] std::optional<std::string> traceback() const;
  // Why the log is not complete, if it is not.
  [[nodiscard]] const std::optional<base::Error>& log_error() const { return log_error_; }
  // Lines that are not in the log, or not whole.
  [[nodiscard]] std::uint64_t lost_lines() const { return lost_lines_; }

 private:
  struct Piece {
    base::WallTime time;  // when its beginning came
    std::string text{};
  };

  void take(std::string_view text);
  void append_to_line(std::string_view text);
  void end_line();
  void keep_line();
  void log(std::string_view text);
  void write_shared(std::size_t bytes);
  void write_log(std::string_view text);
  void write_or_lose(std::string_view text, base::WallTime time);
  void lose(std::string_view text, const base::Error& why);
  void hold_for_end(std::string_view text, base::WallTime time);
  void write_end();
  [[nodiscard]] base::Error limit_is_reached() const;
  base::Result<> open_log();
  base::Result<> append_to_log(std::string_view& text, base::WallTime time);
  base::Result<> log_lost_lines();

  base::UniqueFd pipe_;
  std::string log_path_;
  base::LogTimes times_;
  bool has_times_ = true;
  Callbacks callbacks_;
  std::string prefix_;             // of a log that is shared; else empty
  std::string held_back_;          // for that log: the beginning of a line
  bool is_in_line_ = false;        // the log has the beginning of the line that is held back
  std::shared_ptr<LogRoom> room_;  // null: there is enough
  std::deque<Piece> end_;          // the last output for which there was no room
  std::uint64_t end_bytes_ = 0;
  base::UniqueFd log_;
  std::optional<base::Error> log_error_;
  std::uint64_t lost_lines_ = 0;
  std::uint64_t lost_here_ = 0;   // since the log was written last
  bool is_in_lost_line_ = false;  // of which a piece is lost, and which is counted
  std::uint64_t bytes_ = 0;
  std::string line_;
  std::size_t left_out_ = 0;
  // The line ended in a carriage return: a line feed completes it, anything else overwrites it.
  bool returned_ = false;
  bool redrawn_ = false;  // and not told yet
  std::deque<std::string> kept_;
  std::size_t kept_bytes_ = 0;
};

}  // namespace gangrun::process
