#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/unique_fd.h"

namespace gangrun::client {

// A command waits so long for a reader that takes nothing, then stops printing.
inline constexpr int kReaderTimeoutMs = 600'000;

// One of our two outputs. What its reader does not take at once is kept here, in order; a write()
// never blocks us longer than we want to wait, whatever is at the other end.
class Output {
 public:
  explicit Output(int fd);

  // Keeps the text and writes what can be written without waiting.
  void write(std::string_view text);
  // Writes what can be written without waiting.
  void flush();
  // Waits until everything is written, but for no more than `timeout_ms` without progress: then,
  // and when nobody reads any more, nothing is written from here on.
  void drain(int timeout_ms);
  void give_up();
  // Drains it, and asks whether all has arrived: some file systems tell a full disk only when a
  // file is closed.
  void finish();

  // Why something that was to be written is lost. A reader that went away is no error: it has what
  // it wanted.
  [[nodiscard]] const std::optional<base::Error>& error() const { return error_; }
  [[nodiscard]] std::size_t queued() const { return queue_.size() - written_; }
  [[nodiscard]] bool is_open() const { return open_; }
  [[nodiscard]] bool is_terminal() const { return is_terminal_; }
  // For a loop that waits until more can be written.
  [[nodiscard]] int fd() const { return own_.valid() ? own_.get() : fd_; }

 private:
  [[nodiscard]] bool is_ready(int timeout_ms) const;
  void fail(int error_number);

  int fd_;
  // The same pipe or terminal opened once more, to be non-blocking for us alone.
  base::UniqueFd own_;
  bool is_terminal_ = false;
  bool can_block_ = false;  // could not be opened once more, and is no plain file
  bool is_file_ = false;
  bool open_ = true;
  std::optional<base::Error> error_;
  std::string queue_;
  std::size_t written_ = 0;
};

}  // namespace gangrun::client
