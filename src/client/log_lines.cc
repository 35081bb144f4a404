#include "client/log_lines.h"

#include <algorithm>
#include <utility>

#include "base/format.h"
#include "job/json_text.h"

namespace gangrun::client {

namespace {

// As often as the live table is drawn.
constexpr std::chrono::milliseconds kTerminalPace(200);
constexpr std::string_view kClearLine = "\r\x1b[K";
// As wide as a time.
constexpr std::string_view kNoTime = "-                        ";

}  // namespace

std::chrono::milliseconds redraw_pace(const Console& console, bool json) {
  return console.is_terminal() && !json ? kTerminalPace : cluster::kRedrawPace;
}

Line prefixed(const cluster::LogLine& line, std::size_t prefix_width, Tabs tabs) {
  Line result(fit(job::to_string(line.task), prefix_width), paint_of_type(line.task.type));
  result.add(" | ", line.is_error ? Paint::kRed : Paint::kDim);
  return result.add(harmless_output(line.text, tabs));
}

base::Json to_json(const cluster::LogLine& line) {
  base::Json json = {{"event", "line"},
                     {"task", job::to_string(line.task)},
                     {"stream", line.is_error ? "stderr" : "stdout"},
                     {"line", job::json_text(line.text)}};
  if (line.time) json["time"] = base::to_iso8601(*line.time);
  if (line.end == cluster::LineEnd::kGoesOn) json["partial"] = true;
  if (line.end == cluster::LineEnd::kRedrawn) json["redrawn"] = true;
  return json;
}

std::string LogPrinter::time_of(const cluster::LogLine& line) const {
  if (!options_.times) return {};
  return line.time ? base::to_iso8601(*line.time) + " " : std::string(kNoTime);
}

std::string LogPrinter::text_of(const cluster::LogLine& line) const {
  if (options_.json) return base::dump_json(to_json(line)) + "\n";
  const bool is_terminal = line.is_error ? console_.err_is_terminal() : console_.out_is_terminal();
  if (options_.times) {
    const Tabs tabs = is_terminal ? Tabs::kAreSpaces : Tabs::kStay;
    return time_of(line) + harmless_output(line.text, tabs) + "\n";
  }
  // One task's output on its way to a file or a program stays as it is, byte by byte.
  const bool ends = line.end == cluster::LineEnd::kNewline;
  if (!is_terminal) return ends ? line.text + "\n" : line.text;
  return harmless_output(line.text, Tabs::kStay) +
         (line.end == cluster::LineEnd::kGoesOn ? "" : "\n");
}

// The pieces of a long line stand behind each other, unless another line comes between them.
std::string LogPrinter::prefixed_text(const cluster::LogLine& line) {
  const Stream stream{line.task, line.is_error};
  const bool colour = line.is_error ? console_.colour_on_err() : console_.colour_on_out();
  // A program that reads the lines gets what the task has written.
  const bool is_terminal = line.is_error ? console_.err_is_terminal() : console_.out_is_terminal();
  const Tabs tabs = is_terminal ? Tabs::kAreSpaces : Tabs::kStay;
  std::string text =
      open_ == stream
          ? harmless_output(line.text, tabs)
          : time_of(line) + prefixed(line, options_.prefix_width, tabs).to_terminal(colour);
  open_.reset();
  if (line.end == cluster::LineEnd::kGoesOn) {
    open_ = stream;
    return text;
  }
  return text + "\n";
}

void LogPrinter::end_open_line() {
  if (open_) write(open_->is_error, "\n");
  open_.reset();
}

void LogPrinter::write(bool is_error, std::string_view text) {
  if (is_error && !options_.json) {
    console_.err(text);
  } else {
    console_.out(text);
  }
}

void LogPrinter::clear_drawn() {
  if (drawn_) write(drawn_->is_error, kClearLine);
  drawn_.reset();
}

void LogPrinter::make_way() {
  end_open_line();
  clear_drawn();
}

// Notes what a line decides about the future of the last line.
void LogPrinter::note(const cluster::LogLine& line) {
  if (line.end == cluster::LineEnd::kRedrawn) {
    current_ = Current{
        line.task, line.is_error,
        options_.prefix ? prefixed(line, options_.prefix_width) : Line(harmless_output(line.text))};
    return;
  }
  if (current_ && current_->task == line.task && current_->is_error == line.is_error) {
    current_.reset();
  }
  goes_on_ = !options_.prefix && line.end == cluster::LineEnd::kGoesOn;
}

void LogPrinter::draw() {
  if (!current_ || goes_on_ || open_) return;
  const bool is_error = current_->is_error;
  const bool colour = is_error ? console_.colour_on_err() : console_.colour_on_out();
  // The last column stays free: a terminal that wraps would keep the first row.
  const std::size_t columns = console_.size().value_or(Size{}).columns;
  Line line = current_->line.cut_to(columns - 1);
  if (drawn_ && drawn_->is_error == is_error && drawn_->line == line) return;
  if (drawn_ && drawn_->is_error != is_error) clear_drawn();
  write(is_error, base::format("\r{}\x1b[K", line.to_terminal(colour)));
  drawn_ = Current{current_->task, is_error, std::move(line)};
}

void LogPrinter::print(const std::vector<cluster::LogLine>& lines) {
  // In one write for a run of lines of one stream: a batch of a megabyte is common.
  std::string batch;
  bool is_error = false;
  const auto flush = [&] {
    if (batch.empty()) return;
    clear_drawn();
    write(is_error, batch);
    batch.clear();
  };
  for (const cluster::LogLine& line : lines) {
    if (!line.time) without_times_.insert(line.task);
    if (draws_in_place_) note(line);
    if (draws_in_place_ && line.end == cluster::LineEnd::kRedrawn) continue;
    const bool breaks_open = open_ && open_ != Stream{line.task, line.is_error};
    if (line.is_error != is_error || breaks_open) flush();
    if (breaks_open) end_open_line();
    is_error = line.is_error;
    batch += options_.prefix && !options_.json ? prefixed_text(line) : text_of(line);
  }
  flush();
  draw();
}

void RecentLines::add(const std::vector<cluster::LogLine>& lines) {
  const std::size_t skipped = lines.size() > kMost ? lines.size() - kMost : 0;
  for (std::size_t i = skipped; i < lines.size(); ++i) {
    lines_.push_back(lines[i]);
    if (lines_.back().text.size() > kLongest) lines_.back().text.clear();
    if (lines_.size() > kMost) lines_.pop_front();
  }
}

bool RecentLines::have(const job::TaskId& task, const std::vector<std::string>& lines) const {
  return std::all_of(lines.begin(), lines.end(), [&](const std::string& wanted) {
    return std::any_of(lines_.begin(), lines_.end(), [&](const cluster::LogLine& line) {
      return line.task == task && line.text == wanted;
    });
  });
}

}  // namespace gangrun::client
