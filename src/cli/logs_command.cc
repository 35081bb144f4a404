#include <algorithm>
#include <chrono>
#include <memory>
#include <utility>

#include "base/format.h"
#include "cli/command_builder.h"
#include "cli/commands.h"
#include "client/log_lines.h"
#include "client/report.h"
#include "job/spec_names.h"
#include "job/units.h"

namespace gangrun::cli {

namespace {

struct LogsOptions {
  std::string job{job::kNewestJob};
  std::string task;
  bool follow = false;
  bool output_only = false;
  bool errors_only = false;
  bool json = false;
  std::optional<std::string> tail;
};

constexpr std::chrono::seconds kFollowStep(1);
constexpr int kMaxTail = 1'000'000;

base::Result<cluster::LogRequest> request_of(const LogsOptions& options) {
  cluster::LogRequest request;
  if (!options.task.empty()) {
    GANGRUN_ASSIGN(request.task, job::parse_task_id(options.task));
  }
  if (options.output_only && options.errors_only) {
    return base::invalid_argument("--stdout and --stderr exclude each other");
  }
  request.output = !options.errors_only;
  request.errors = !options.output_only;
  if (options.tail) {
    auto lines = job::parse_count(*options.tail, 0, kMaxTail);
    if (!lines.ok()) return lines.error().context("--tail");
    request.tail = *lines;
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

// Everything that is there, then with -f what comes until the job ends.
base::Result<> show_log(cluster::Site& site, const LogsOptions& options,
                        const cluster::LogRequest& request, client::Context& context) {
  GANGRUN_ASSIGN(job::JobStatus status, site.status(options.job));
  GANGRUN_ASSIGN(const auto reader, site.logs(status.id, request));
  client::LogPrinter::Options printing{.prefix = !request.task.has_value(),
                                       .prefix_width = prefix_width(status, request),
                                       .json = options.json};
  client::LogPrinter printer(context.console, printing);
  while (context.console.out_is_open() && !context.console.lost_output()) {
    // Asked before the reading: what an ended job wrote is all there.
    const bool ended = job::is_final(status.state);
    const bool wait = options.follow && !ended;
    const base::Instant now = context.clock.now();
    GANGRUN_ASSIGN(const auto lines, reader->next(wait ? now + kFollowStep : now));
    printer.print(lines);
    if (lines.empty() && (!options.follow || ended)) break;
    if (lines.empty()) {
      GANGRUN_ASSIGN(status, site.status(status.id));
    }
  }
  printer.print(reader->rest());
  printer.make_way();
  for (const std::string& sentence : client::missing_lines(status, request.task)) {
    context.console.err(base::format("gangrun: warning: {}\n", sentence));
  }
  return {};
}

client::ExitStatus logs(const LogsOptions& options, client::Context& context) {
  auto request = request_of(options);
  if (!request.ok()) return fail(context, request.error());
  // To a file or a program, one task's output is what the task wrote, and as soon as it did.
  request->as_it_is =
      request->task.has_value() && !options.json && !context.console.out_is_terminal();
  request->redraw_pace = client::redraw_pace(context.console, options.json);
  const auto site = client::site_of(context, options.job);
  if (!site.ok()) return fail(context, site.error());
  const auto shown = show_log(**site, options, *request, context);
  return shown.ok() ? client::ExitStatus::kSuccess : fail(context, shown.error());
}

}  // namespace

void add_logs(CLI::App& app, Request& request) {
  CLI::App* command = add_command(
      app, "logs",
      "Show the output of all tasks of a job, each line with a prefix, or of one task.");
  const auto options = std::make_shared<LogsOptions>();
  add_positional(*command, "JOB", options->job, false);
  add_positional(*command, "TASK", options->task, false);
  add_flag(*command, "-f,--follow", options->follow, "Follow the output until the job ends");
  add_value(*command, "-n,--tail", options->tail, "LINES",
            "Only the last N lines of each stream of each task");
  add_flag(*command, "--stdout", options->output_only, "Only what tasks wrote to standard output");
  add_flag(*command, "--stderr", options->errors_only, "Only what tasks wrote to standard error");
  add_flag(*command, "--json", options->json, "Print a JSON object for each line");
  add_footer(
      *command,
      "JOB is an id, the unambiguous beginning of one, or last; without it, the last one. TASK "
      "is like worker:0.\n\nExample:\n  gangrun logs -f --tail 20 worker:0\n");
  on_chosen(*command, [&request, options] {
    // A task alone is one of the last job: no job's name has a colon.
    if (options->task.empty() && options->job.find(':') != std::string::npos) {
      options->task = std::exchange(options->job, job::kNewestJob);
    }
    request.action = [options](client::Context& context) { return logs(*options, context); };
  });
}

}  // namespace gangrun::cli
