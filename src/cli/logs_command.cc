#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/format.h"
#include "base/strings.h"
#include "cli/commands.h"
#include "cli/moment.h"
#include "client/log_lines.h"
#include "client/report.h"
#include "client/sites.h"
#include "job/units.h"

namespace gangrun::cli {

namespace {

struct LogsOptions {
  std::string job;
  std::string task;
  bool follow = false;
  bool output_only = false;
  bool errors_only = false;
  bool json = false;
  bool timestamps = false;
  std::optional<std::string> tail;
  std::optional<std::string> since;
};

constexpr std::chrono::seconds kFollowStep(1);
constexpr int kMaxTail = 1'000'000;
constexpr std::size_t kMaxNamed = 5;

// So long ago, or a time as --timestamps prints it.
base::Result<base::WallTime> since_of(const std::string& text, base::WallTime now) {
  const auto ago = job::parse_duration(text);
  if (ago.ok()) return now - *ago;
  if (const auto time = moment_from(text)) return *time;
  return base::invalid_argument(
      base::format("{} is not allowed; allowed: how long ago (30s, 10m, 2h) or a date or time in "
                   "UTC (2026-01-31, 2026-01-31T12:00)",
                   job::in_quotes(text)));
}

base::Result<cluster::LogRequest> request_of(const LogsOptions& options, base::WallTime now) {
  cluster::LogRequest request;
  request.times = options.timestamps;
  if (options.since) {
    GANGRUN_ASSIGN(request.since, since_of(*options.since, now).context("--since"));
  }
  if (!options.task.empty()) {
    GANGRUN_ASSIGN(request.task, job::parse_task_id(options.task));
  }
  if (options.output_only && options.errors_only) {
    return base::invalid_argument("--stdout and --stderr exclude each other");
  }
  request.output = !options.errors_only;
  request.errors = !options.output_only;
  if (options.tail) {
    GANGRUN_ASSIGN(request.tail, job::parse_count(*options.tail, 0, kMaxTail).context("--tail"));
  }
  return request;
}

std::size_t prefix_width(const job::JobStatus& status, const cluster::LogRequest& request) {
  std::size_t width = 0;
  for (const job::TaskStatus& task : status.tasks) {
    if (request.task && task.task != *request.task) continue;
    width = std::max(width, job::to_string(task.task).size());
  }
  return width;
}

void warn_of_missing_times(const std::set<job::TaskId>& tasks, client::Context& context) {
  if (tasks.empty()) return;
  std::vector<std::string> names;
  for (const job::TaskId& task : tasks) names.push_back(job::to_string(task));
  context.console.err(base::format(
      "gangrun: warning: lines of {} have no times: they were written by a version of gangrun that "
      "noted none\n",
      base::first_and_more(names, kMaxNamed)));
}

// Everything that is there, then with -f what comes until the job ends. What tasks write while the
// master is silent is shown too.
base::Result<> show_log(cluster::Job& job, const LogsOptions& options,
                        const cluster::LogRequest& request, client::Context& context) {
  GANGRUN_ASSIGN(client::LatestStatus latest, client::latest_status(job));
  if (request.task) GANGRUN_TRY(client::check_tasks(latest.status, {*request.task}));
  GANGRUN_ASSIGN(const auto reader, job.logs(request));
  client::LogPrinter::Options printing{.prefix = !request.task.has_value(),
                                       .prefix_width = prefix_width(latest.status, request),
                                       .json = options.json,
                                       .times = options.timestamps};
  client::LogPrinter printer(context.console, printing);
  while (context.console.out_is_open() && !context.console.lost_output()) {
    // Asked before the reading: what an ended job wrote is all there.
    const bool ended = job::is_final(latest.status.state);
    const bool wait = options.follow && !ended;
    const base::Instant now = context.clock.now();
    GANGRUN_ASSIGN(const auto lines, reader->next(wait ? now + kFollowStep : now));
    printer.print(lines);
    if (lines.empty() && !wait) break;
    if (lines.empty()) {
      GANGRUN_ASSIGN(latest, client::latest_status(job));
    }
  }
  printer.print(reader->rest());
  printer.make_way();
  if (options.timestamps || options.since) warn_of_missing_times(printer.without_times(), context);
  for (const std::string& sentence : client::missing_lines(latest.status, request.task)) {
    context.console.err(base::format("gangrun: warning: {}\n", sentence));
  }
  // The lines in the log are shown all the same.
  if (latest.silence) return *latest.silence;
  return {};
}

base::Result<client::ExitStatus> logs(const LogsOptions& options, client::Context& context) {
  GANGRUN_ASSIGN(auto request, request_of(options, context.clock.wall_now()));
  // To a file or a program, one task's output is what the task wrote, and as soon as it did.
  request.as_it_is = request.task.has_value() && !options.json && !options.timestamps &&
                     !context.console.out_is_terminal();
  request.redraw_pace = client::redraw_pace(context.console, options.json);
  GANGRUN_ASSIGN(const auto job, client::find_job(context, options.job));
  GANGRUN_TRY(show_log(*job, options, request, context));
  return client::ExitStatus::kSuccess;
}

}  // namespace

client::Command logs_command() {
  const auto options = std::make_shared<LogsOptions>();
  return {
      .name = "logs",
      .summary = "Show the output of all tasks of a job, each line with a prefix, or of one task.",
      .words = {job_word(options->job), {"TASK", &options->task}},
      .flags = {{"-f,--follow", &options->follow, "", "Follow the output until the job ends"},
                {"-n,--tail", &options->tail, "LINES",
                 "Only the last N lines of each stream of each task"},
                {"--since", &options->since, "TIME",
                 "Only lines of the last 10m (s, m, h, d), or since 2026-01-31T12:00:00Z"},
                {"-t,--timestamps", &options->timestamps, "",
                 "Show when each line was written, in UTC"},
                {"--stdout", &options->output_only, "", "Only what tasks wrote to standard output"},
                {"--stderr", &options->errors_only, "", "Only what tasks wrote to standard error"},
                {"--json", &options->json, "", "Print a JSON object for each line"}},
      .footer =
          "What tasks wrote to standard error is printed on standard error, everything else on "
          "standard output.\nJOB is an id, the unambiguous beginning of one, or last; without it, "
          "the last one. TASK is like worker:0.\n\n"
          "Examples:\n  gangrun logs -f --tail 20 worker:0\n  gangrun logs last > all.txt 2>&1\n",
      .action = acts(options, logs)};
}

}  // namespace gangrun::cli
