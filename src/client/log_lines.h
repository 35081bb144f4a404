#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "client/console.h"
#include "client/style.h"
#include "client/text.h"
#include "cluster/site.h"

namespace gangrun::client {

// "worker:0 | text": one line of a task's output among those of others.
Line prefixed(const cluster::LogLine& line, std::size_t prefix_width, Tabs tabs = Tabs::kAreSpaces);

base::Json to_json(const cluster::LogLine& line);

// How often a progress bar is to be given to who shows it: on a terminal it moves.
std::chrono::milliseconds redraw_pace(const Console& console, bool json);

// Writes tasks' lines: their standard output to ours, their standard error to ours. On a terminal,
// what a task draws again and again (a progress bar) stands in the last line, below all others, and
// is replaced in place; of several tasks it is the one that moved last.
class LogPrinter {
 public:
  struct Options {
    bool prefix = true;
    std::size_t prefix_width = 0;  // of the longest task's name
    bool json = false;             // all of it to standard output
    bool times = false;            // in front of each line
  };

  LogPrinter(Console& console, Options options)
      : console_(console),
        options_(options),
        draws_in_place_(console.is_terminal() && !options.json) {}
  LogPrinter(const LogPrinter&) = delete;
  LogPrinter& operator=(const LogPrinter&) = delete;
  ~LogPrinter() { make_way(); }

  void print(const std::vector<cluster::LogLine>& lines);
  // Tasks of which lines were printed whose times nobody has noted.
  [[nodiscard]] const std::set<job::TaskId>& without_times() const { return without_times_; }
  // Clears the last line, for what others write, or ends it; the progress bar is back when it
  // moves.
  void make_way();

 private:
  // The text of the last line, or the text that is to stand there.
  struct Current {
    job::TaskId task;
    bool is_error = false;
    Line line;
  };

  // One stream of one task.
  struct Stream {
    job::TaskId task;
    bool is_error = false;

    friend bool operator==(const Stream&, const Stream&) = default;
  };

  [[nodiscard]] std::string text_of(const cluster::LogLine& line) const;
  [[nodiscard]] std::string time_of(const cluster::LogLine& line) const;
  [[nodiscard]] std::string prefixed_text(const cluster::LogLine& line);
  void end_open_line();
  void clear_drawn();
  void write(bool is_error, std::string_view text);
  void note(const cluster::LogLine& line);
  void draw();

  Console& console_;
  const Options options_;
  const bool draws_in_place_;
  std::optional<Current> current_;
  std::optional<Current> drawn_;
  std::optional<Stream> open_;  // with a prefix: whose line was written last, and has no end yet
  std::set<job::TaskId> without_times_;
  bool goes_on_ = false;  // a piece of a line was written last: there is no line of our own
};

// The lines of tasks that a user has seen last, so that they need not be told again.
class RecentLines {
 public:
  static constexpr std::size_t kMost = 60;            // some two screens
  static constexpr std::size_t kLongest = 4U << 10U;  // bytes; longer ones are not remembered

  void add(const std::vector<cluster::LogLine>& lines);
  // Whether all of these lines of this task are among them.
  [[nodiscard]] bool have(const job::TaskId& task, const std::vector<std::string>& lines) const;

 private:
  std::deque<cluster::LogLine> lines_;
};

}  // namespace gangrun::client
