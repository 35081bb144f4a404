#include <sys/types.h>

#include <chrono>
#include <memory>
#include <optional>
#include <vector>

#include "base/format.h"
#include "base/json.h"
#include "base/output_file.h"
#include "base/sizes.h"
#include "base/strings.h"
#include "cli/commands.h"
#include "client/text.h"
#include "job/described.h"

namespace gangrun::cli {

namespace {

struct ResultOptions {
  std::string job;
  std::string task;
  std::optional<std::string> output;
  bool json = false;
};

constexpr mode_t kOwnFile = 0600;
constexpr std::chrono::milliseconds kPatience(client::kReaderTimeoutMs);

base::Result<> list(cluster::Job& job, bool json, client::Context& context) {
  GANGRUN_ASSIGN(const auto results, job.results());
  if (json) {
    const auto list = base::JsonOf<std::vector<cluster::TaskResult>>::write(results);
    context.console.out(base::dump_json({{"results", list}}) + "\n");
    return {};
  }
  if (results.empty()) context.console.out("No task has written a result.\n");
  for (const auto& result : results) {
    context.console.out(
        base::format("{:<20} {}\n", job::to_string(result.task), base::size_text(result.bytes)));
  }
  return {};
}

base::Result<> write_to_file(cluster::Job& job, const job::TaskId& task, const std::string& path) {
  GANGRUN_ASSIGN(auto file, base::OutputFile::open(path, kOwnFile, kPatience));
  GANGRUN_TRY(job.read_result(task, [&](std::string_view piece) { return file.write(piece); }));
  return file.commit();
}

base::Result<> show_result(cluster::Job& job, const ResultOptions& options,
                           client::Context& context) {
  if (options.task.empty()) {
    if (options.output) return base::invalid_argument("--output needs a TASK");
    return list(job, options.json, context);
  }
  if (options.json) return base::invalid_argument("--json lists results; it has no TASK");
  GANGRUN_ASSIGN(const job::TaskId task, job::parse_task_id(options.task));
  if (options.output) return write_to_file(job, task, *options.output);
  return job.read_result(task, [&](std::string_view piece) -> base::Result<> {
    context.console.out(piece);
    return {};
  });
}

base::Result<client::ExitStatus> result(const ResultOptions& options, client::Context& context) {
  GANGRUN_ASSIGN(const auto job, client::find_job(context, options.job));
  GANGRUN_TRY(show_result(*job, options, context));
  return client::ExitStatus::kSuccess;
}

}  // namespace

client::Command result_command() {
  const auto options = std::make_shared<ResultOptions>();
  return {.name = "result",
          .summary = "List the results of a job's tasks, or print one.",
          .words = {job_word(options->job), {"TASK", &options->task}},
          .flags = {{"-o,--output", &options->output, "FILE",
                     "Write the result to this file (mode 0600) instead of standard output"},
                    {"--json", &options->json, "", "Print the list as one JSON object"}},
          .footer =
              "A task's result is what it writes to the file that GANGRUN_RESULT_FILE names, at "
              "most\n256 MiB. JOB is an id, the unambiguous beginning of one, or last; without it, "
              "the last one. TASK\nis like worker:0.\n\n"
              "Example:\n  gangrun result worker:0 -o accuracy.json\n",
          .action = acts(options, result)};
}

}  // namespace gangrun::cli
