#include "client/report.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/clock.h"
#include "base/format.h"
#include "base/strings.h"
#include "client/render.h"
#include "client/text.h"

namespace gangrun::client {

namespace {

// More tasks than that are counted and not named.
constexpr std::size_t kMaxMissing = 8;
// The tasks that first_tasks() names.
constexpr std::size_t kMaxNamed = 10;

std::string time_words(std::int64_t ms) { return base::to_words(std::chrono::milliseconds(ms)); }

// The words before and after the name of a task, or their number.
using Around = std::pair<std::string_view, std::string_view>;

// A sentence for each task of which `said` tells something, for one task or all; beyond a few they
// are counted.
std::vector<std::string> sentences_of(const job::JobStatus& status,
                                      std::string job::TaskStatus::*said,
                                      const std::optional<job::TaskId>& task, const Around& one,
                                      const Around& others) {
  std::vector<std::string> sentences;
  std::int64_t more = 0;
  for (const job::TaskStatus& each : status.tasks) {
    if ((each.*said).empty() || (task && each.task != *task)) continue;
    if (sentences.size() == kMaxMissing) {
      ++more;
      continue;
    }
    sentences.push_back(base::format("{} {} {}: {}", one.first, job::to_string(each.task),
                                     one.second, harmless_sentence(each.*said)));
  }
  if (more > 0) {
    sentences.push_back(
        base::format("{} {} {}", others.first, count_text(more, "more task"), others.second));
  }
  return sentences;
}

// Whether the last lines show the traceback already: it is their end, as Python writes it.
bool shows_traceback(const job::Cause& cause) {
  std::string lines;
  for (const std::string& line : cause.last_lines) lines += line + "\n";
  return lines.find(base::trim(cause.traceback)) != std::string::npos;
}

void add_quoted(Lines& lines, const std::string& text) {
  lines.push_back(Line("  | ", Paint::kDim).add(harmless_output(text, Tabs::kStay)));
}

// Evidence that stands above: the task's last lines.
Lines last_line(const job::Cause& cause) {
  std::vector<std::string> lines = cause.last_lines;
  std::string what = base::format("its last line{}, after those above:",
                                  cause.has_both_streams ? "" : " on standard error");
  if (!cause.traceback.empty()) {
    lines = base::split(base::trim(cause.traceback), '\n');
    what = "its last traceback, which stands above, ends with:";
  }
  const auto said = std::find_if(lines.rbegin(), lines.rend(),
                                 [](const std::string& line) { return !base::trim(line).empty(); });
  if (said == lines.rend()) return {};
  Lines shown = {Line(what)};
  add_quoted(shown, *said);
  return shown;
}

}  // namespace

std::string logs_command(const job::JobStatus& status) {
  std::string command = base::format("gangrun logs {}", harmless_sentence(status.id));
  if (status.state == job::JobState::kFailed && status.cause && status.cause->task) {
    command += " " + job::to_string(*status.cause->task);
  }
  return command;
}

std::string verdict_sentence(const job::JobStatus& status) {
  std::string verb = state_words(status.state);
  if (status.state == job::JobState::kKilled) verb = "was stopped";
  if (status.state == job::JobState::kLost) verb = "was lost";
  if (!job::is_final(status.state)) verb = "is still " + verb;
  // When a lost one ended nobody knows: what is known is how long something was heard of it.
  return base::format("{} {}{} after {}", harmless_sentence(status.id), verb,
                      status.state == job::JobState::kLost ? "; it was last heard of" : "",
                      time_words(status.elapsed_ms));
}

std::vector<std::string> missing_lines(const job::JobStatus& status,
                                       const std::optional<job::TaskId>& task) {
  return sentences_of(status, &job::TaskStatus::incomplete_log, task,
                      {"the log of", "is incomplete"}, {"the logs of", "are incomplete, too"});
}

std::vector<std::string> lost_outputs(const job::JobStatus& status) {
  return sentences_of(status, &job::TaskStatus::lost_outputs, {},
                      {"outputs of", "were not all kept"},
                      {"outputs of", "were not all kept, either"});
}

std::vector<std::string> lines_of(const job::Cause& cause) {
  std::vector<std::string> lines = cause.last_lines;
  if (!cause.traceback.empty() && !shows_traceback(cause)) {
    const auto more = base::split(base::trim(cause.traceback), '\n');
    lines.insert(lines.end(), more.begin(), more.end());
  }
  return lines;
}

Lines evidence_lines(const job::Cause& cause, Evidence evidence) {
  if (evidence == Evidence::kLastLine && lines_of(cause).size() > 1) return last_line(cause);
  Lines lines;
  if (!cause.last_lines.empty()) {
    lines.emplace_back(cause.has_both_streams ? "its last lines:"
                                              : "its last lines on standard error:");
    for (const std::string& line : cause.last_lines) add_quoted(lines, line);
  }
  if (!cause.traceback.empty() && !shows_traceback(cause)) {
    lines.emplace_back("its last traceback:");
    for (const std::string& line : base::split(base::trim(cause.traceback), '\n')) {
      add_quoted(lines, line);
    }
  }
  return lines;
}

bool has_folder_here(const std::string& path) {
  std::error_code failed;
  return std::filesystem::is_directory(path, failed);
}

Lines end_report(const job::JobStatus& status,
                 const std::function<bool(const std::string&)>& is_folder_here, Evidence evidence) {
  Lines lines = {Line(verdict_sentence(status), paint_of(status.state))};
  if (status.cause && status.state != job::JobState::kSucceeded) {
    lines.emplace_back(harmless_sentence(job::to_words(*status.cause)));
    const Lines told = evidence_lines(*status.cause, evidence);
    lines.insert(lines.end(), told.begin(), told.end());
  }
  if (status.restarts_used > 0) {
    lines.emplace_back(
        base::format("restarts: {} of {} used", status.restarts_used, status.restarts_max));
  }
  if (status.all_started_ms >= 0) {
    lines.emplace_back(
        base::format("started: {} in {} from the command",
                     count_text(static_cast<std::int64_t>(status.tasks.size()), "task"),
                     time_words(status.all_started_ms)));
  }
  const std::string logs = status.folder + "/logs";
  if (!status.folder.empty() && is_folder_here(logs)) {
    lines.emplace_back("logs: " + harmless_sentence(logs));
  }
  lines.push_back(Line("next: ").add(logs_command(status), Paint::kBold));
  return lines;
}

std::string first_tasks(const job::JobStatus& status) {
  std::vector<std::string> names;
  for (const job::TaskStatus& task : status.tasks) {
    names.push_back(names.size() < kMaxNamed ? job::to_string(task.task) : "…");
    if (names.size() > kMaxNamed) break;
  }
  return base::format("{}", base::join(names, ", "));
}

base::Error no_such_task(const job::JobStatus& status, std::string_view name) {
  return base::not_found(
      base::format("{} has no task {}; it has {}", status.id, name, first_tasks(status)));
}

base::Result<> check_tasks(const job::JobStatus& status, const std::vector<job::TaskId>& wanted) {
  if (status.tasks.empty()) return {};
  for (const job::TaskId& task : wanted) {
    const bool is_there =
        std::ranges::find(status.tasks, task, &job::TaskStatus::task) != status.tasks.end();
    if (!is_there) return no_such_task(status, job::to_string(task));
  }
  return {};
}

}  // namespace gangrun::client
