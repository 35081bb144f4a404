#include "client/plain_view.h"

#include <chrono>
#include <map>
#include <utility>

#include "base/clock.h"
#include "base/format.h"
#include "client/live_view.h"
#include "client/render.h"
#include "client/report.h"
#include "client/text.h"
#include "job/described.h"
#include "job/json_text.h"

namespace gangrun::client {

namespace {

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

void JobView::joinable(const JoinPlace& place) {
  notice(base::format("its tasks connect to {}:{}", place.host, place.port));
}

PlainView::PlainView(Console& console, ViewOptions options)
    : console_(console),
      options_(std::move(options)),
      printer_(console, {.prefix = true, .prefix_width = options_.prefix_width}) {}

void PlainView::say(const std::string& text) {
  printer_.make_way();
  console_.err(text);
}

void PlainView::started(const job::JobStatus& status) {
  if (!options_.quiet) {
    say(base::format("gangrun: {} with {}\n", status.id,
                     count_text(static_cast<std::int64_t>(status.tasks.size()), "task")));
  }
}

void PlainView::changed(const job::JobStatus& status) {
  if (!options_.quiet && !job::is_final(status.state)) {
    for (const std::string& sentence : news(last_ ? &*last_ : nullptr, status, options_.verbose)) {
      say(base::format("gangrun: {}\n", sentence));
    }
  }
  last_ = status;
}

void PlainView::lines(const std::vector<cluster::LogLine>& lines) {
  printer_.print(lines);
  recent_.add(lines);
}

void PlainView::warning(const std::string& sentence) {
  say(base::format("gangrun: warning: {}\n", harmless_sentence(sentence)));
}

void PlainView::notice(const std::string& sentence) {
  say(base::format("gangrun: {}\n", sentence));
}

void PlainView::finished(const job::JobStatus& status, int /*exit_status*/) {
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

void JsonView::write(std::string_view event, const base::Json& fields) {
  base::Json object = {{"event", event}};
  object.update(fields);
  console_.out(base::dump_json(object) + "\n");
}

void JsonView::started(const job::JobStatus& status) { changed(status); }

void JsonView::changed(const job::JobStatus& status) {
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

void JsonView::lines(const std::vector<cluster::LogLine>& lines) {
  for (const cluster::LogLine& line : lines) {
    console_.out(base::dump_json(to_json(line)) + "\n");
  }
}

void JsonView::warning(const std::string& sentence) {
  write("warning", {{"sentence", job::json_text(sentence)}});
}
void JsonView::notice(const std::string& sentence) {
  write("notice", {{"sentence", job::json_text(sentence)}});
}

void JsonView::joinable(const JoinPlace& place) { write("join", base::to_json(place)); }

void JsonView::finished(const job::JobStatus& status, int exit_status) {
  write("end", {{"exit_status", exit_status}, {"status", shown_json(status, options_.url)}});
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
