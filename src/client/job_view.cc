#include "client/job_view.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <string_view>
#include <utility>

#include "base/clock.h"
#include "base/format.h"
#include "client/log_lines.h"
#include "client/render.h"
#include "client/report.h"
#include "client/text.h"
#include "job/described.h"
#include "job/json_text.h"
#include "job/units.h"

namespace gangrun::client {

namespace {

// Lines of the tasks below their table.
constexpr std::size_t kMostSaid = 10;

std::string job_sentence(const job::JobStatus& status, bool started_before) {
  std::string sentence = state_words(status.state);
  if (status.state == job::JobState::kRunning && started_before) return sentence + " again";
  if (status.state == job::JobState::kRunning && status.all_started_ms >= 0) {
    return base::format("running: all tasks started {} after the command",
                        base::to_words(std::chrono::milliseconds(status.all_started_ms)));
  }
  if (!status.waiting_for.empty()) {
    sentence += base::format(", waiting for {}", harmless_sentence(status.waiting_for));
  }
  return sentence;
}

std::string task_sentence(const job::TaskStatus& task) {
  std::string sentence =
      base::format("{} {}", job::to_string(task.task), job::to_string(task.state));
  if (task.attempt > 1) sentence += base::format(" (run {})", task.attempt);
  // A master of an older version tells how the run before ended with the state of the next one.
  if (!task.exit || !job::is_final(task.state)) return sentence;
  return sentence + ": " + harmless_sentence(job::to_words(*task.exit));
}

bool is_worth_telling(const job::TaskStatus* before, const job::TaskStatus& now, bool verbose) {
  if (before != nullptr && before->state == now.state && before->attempt == now.attempt) {
    return false;
  }
  const bool bad = now.state == job::TaskState::kFailed || now.state == job::TaskState::kLost;
  return verbose || bad || (before != nullptr && before->attempt != now.attempt);
}

// The task that failed first comes first: it is why the others end.
std::vector<std::string> news_of_tasks(const job::JobStatus* before, const job::JobStatus& now,
                                       bool verbose) {
  std::map<job::TaskId, const job::TaskStatus*> old;
  if (before != nullptr) {
    for (const job::TaskStatus& task : before->tasks) old[task.task] = &task;
  }
  std::vector<std::string> sentences;
  for (const job::TaskStatus& task : now.tasks) {
    const auto found = old.find(task.task);
    if (!is_worth_telling(found == old.end() ? nullptr : found->second, task, verbose)) continue;
    const bool is_first = now.cause && now.cause->task == task.task;
    sentences.insert(is_first ? sentences.begin() : sentences.end(), task_sentence(task));
  }
  return sentences;
}

// A table of the tasks that is redrawn in place, with their newest lines below it; what we say
// besides scrolls away above it, and with --logs all lines of the tasks.
class LiveView final : public JobView {
 public:
  LiveView(Console& console, ViewOptions options)
      : console_(console), options_(std::move(options)) {}

  void changed(const job::JobStatus& status) override {
    status_ = status;
    draw({});
  }
  void lines(const std::vector<cluster::LogLine>& lines) override {
    Lines above;
    for (const cluster::LogLine& line : lines) {
      // The table has a progress bar as it is now.
      if (line.end == cluster::LineEnd::kRedrawn) continue;
      above.push_back(prefixed(line, options_.prefix_width));
    }
    if (options_.logs.value_or(false)) {
      if (!above.empty()) draw(above);
      return;
    }
    // Drawn with the next state of the tasks: they may say more than anybody can read.
    said_.insert(said_.end(), above.begin(), above.end());
    if (said_.size() > kMostSaid) {
      said_.erase(said_.begin(), said_.end() - static_cast<std::ptrdiff_t>(kMostSaid));
    }
  }
  void warning(const std::string& sentence) override {
    draw({Line("warning: ", Paint::kYellow).add(harmless_sentence(sentence))});
  }
  void notice(const std::string& sentence) override {
    notice_ = sentence;
    draw({});
  }
  void finished(const job::JobStatus& status, int /*exit_status*/) override {
    notice_.clear();
    changed(status);
    console_.out(end_report(status));
  }
  [[nodiscard]] bool wants_lines() const override { return options_.logs.value_or(true); }

 private:
  void draw(const Lines& above) {
    const Size size = console_.size().value_or(Size{});
    // The last column and the last row stay free: writing there would scroll or wrap.
    Lines next = render(status_, size.columns - 1, size.rows - 1, notice_, said_);
    if (above.empty() && next == shown_) return;
    console_.out(replace_frame(shown_, above, next, size.columns, console_.colour_on_out()));
    shown_ = std::move(next);
  }

  Console& console_;
  ViewOptions options_;
  job::JobStatus status_;
  std::string notice_;
  Lines said_;  // the tasks' newest lines
  Lines shown_;
};

// Lines for files and pipes: the tasks' output, and on standard error what happens.
class PlainView final : public JobView {
 public:
  PlainView(Console& console, ViewOptions options)
      : console_(console),
        options_(std::move(options)),
        printer_(console, {.prefix = true, .prefix_width = options_.prefix_width}) {}

  void started(const job::JobStatus& status) override {
    if (options_.quiet) return;
    say(base::format("gangrun: {} with {}\n", status.id,
                     count_text(static_cast<std::int64_t>(status.tasks.size()), "task")));
  }
  void changed(const job::JobStatus& status) override {
    if (!options_.quiet && !job::is_final(status.state)) {
      for (const std::string& sentence :
           news(last_ ? &*last_ : nullptr, status, options_.verbose)) {
        notice(sentence);
      }
    }
    last_ = status;
  }
  void lines(const std::vector<cluster::LogLine>& lines) override {
    printer_.print(lines);
    recent_.add(lines);
  }
  void warning(const std::string& sentence) override {
    say(base::format("gangrun: warning: {}\n", harmless_sentence(sentence)));
  }
  void notice(const std::string& sentence) override {
    say(base::format("gangrun: {}\n", sentence));
  }
  void finished(const job::JobStatus& status, int /*exit_status*/) override {
    if (options_.quiet && status.state == job::JobState::kSucceeded) return;
    Lines report;
    const bool is_above = status.cause && status.cause->task &&
                          recent_.have(*status.cause->task, lines_of(*status.cause));
    for (const Line& line :
         end_report(status, has_folder_here, is_above ? Evidence::kLastLine : Evidence::kAll)) {
      report.push_back(Line("gangrun: ").add(line.text()));
    }
    printer_.make_way();
    console_.err(report);
  }
  [[nodiscard]] bool wants_lines() const override { return options_.logs.value_or(true); }

 private:
  void say(const std::string& text) {
    printer_.make_way();
    console_.err(text);
  }

  Console& console_;
  ViewOptions options_;
  LogPrinter printer_;
  RecentLines recent_;
  std::optional<job::JobStatus> last_;
};

// One JSON object a line on standard output.
class JsonView final : public JobView {
 public:
  JsonView(Console& console, ViewOptions options)
      : console_(console), options_(std::move(options)) {}

  void changed(const job::JobStatus& status) override {
    // Time and memory alone are no change.
    const auto said = [](job::JobStatus s) {
      s.elapsed_ms = 0;
      s.waiting_for.clear();
      for (job::TaskStatus& task : s.tasks) {
        task.memory_bytes = 0;
        task.cpu_seconds = 0;
        task.last_line.clear();
      }
      return s;
    };
    if (job::is_final(status.state) || said(status) == said(last_)) return;
    last_ = status;
    write("status", {{"status", shown_json(status, options_.url)}});
  }
  void lines(const std::vector<cluster::LogLine>& lines) override {
    for (const cluster::LogLine& line : lines) {
      console_.out(base::dump_json(to_json(line)) + "\n");
    }
  }
  void warning(const std::string& sentence) override {
    write("warning", {{"sentence", job::json_text(sentence)}});
  }
  void notice(const std::string& sentence) override {
    write("notice", {{"sentence", job::json_text(sentence)}});
  }
  void joinable(const JoinPlace& place) override { write("join", base::to_json(place)); }
  void finished(const job::JobStatus& status, int exit_status) override {
    write("end", {{"exit_status", exit_status}, {"status", shown_json(status, options_.url)}});
  }
  [[nodiscard]] bool wants_lines() const override { return options_.logs.value_or(false); }

 private:
  void write(std::string_view event, const base::Json& fields) {
    base::Json object = {{"event", event}};
    object.update(fields);
    console_.out(base::dump_json(object) + "\n");
  }

  Console& console_;
  ViewOptions options_;
  job::JobStatus last_;
};

}  // namespace

std::vector<std::string> news(const job::JobStatus* before, const job::JobStatus& now,
                              bool verbose) {
  std::vector<std::string> sentences = news_of_tasks(before, now, verbose);
  const bool started = now.all_started_ms >= 0;
  if (before == nullptr || before->state != now.state ||
      (started && before->all_started_ms < 0 && now.state == job::JobState::kRunning)) {
    // "running" is told when all have started; what happens until then is the roll call's end.
    if (now.state != job::JobState::kRunning || started || verbose) {
      // A failure is told before what it leads to.
      const bool follows =
          now.state == job::JobState::kStopping || now.state == job::JobState::kRestarting;
      sentences.insert(follows ? sentences.end() : sentences.begin(),
                       job_sentence(now, before != nullptr && before->all_started_ms >= 0));
    }
  }
  return sentences;
}

std::string replace_frame(const Lines& shown, const Lines& above, const Lines& next,
                          std::size_t columns, bool colour) {
  std::size_t rows = 0;
  for (const Line& line : shown) {
    const std::size_t width = line.width();
    rows += columns == 0 || width <= columns ? 1 : (width + columns - 1) / columns;
  }
  std::string bytes;
  if (rows > 0) bytes += base::format("\x1b[{}A\r", rows);
  for (const Lines* lines : {&above, &next}) {
    // Erased line by line after its text, so that nothing flickers.
    for (const Line& line : *lines) bytes += line.to_terminal(colour) + "\x1b[K\n";
  }
  return bytes + "\x1b[J";
}

void JobView::joinable(const JoinPlace& place) {
  // A user who has typed the command without an application would wait for nothing.
  notice(
      base::format("waits up to {} for a Spark application that brings its tasks (gangrun.spark in "
                   "Python); they "
                   "connect to {}:{}",
                   job::duration_text(place.limit), place.host, place.port));
}

base::Json shown_json(const job::JobStatus& status, const std::string& url) {
  base::Json json = base::to_json(status);
  if (!url.empty()) json["url"] = url;
  return json;
}

std::unique_ptr<JobView> make_view(Console& console, const ViewOptions& options) {
  if (options.json) return std::make_unique<JsonView>(console, options);
  if (console.out_is_terminal() && !options.quiet) {
    return std::make_unique<LiveView>(console, options);
  }
  return std::make_unique<PlainView>(console, options);
}

}  // namespace gangrun::client
