#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/described_json.h"
#include "base/format.h"
#include "base/json.h"
#include "cli/commands.h"
#include "client/next_master.h"
#include "client/report.h"
#include "client/stacks_view.h"
#include "cluster/question.h"
#include "job/status.h"
#include "job/units.h"
#include "process/stack_look.h"

namespace gangrun::cli {

namespace {

struct StacksOptions {
  std::string job;
  std::vector<std::string> tasks;
  std::optional<std::string> timeout;
  bool json = false;
};

bool is_answered(const cluster::Answer& answer) {
  return std::ranges::any_of(answer.tasks, [](const auto& task) { return task.refused.empty(); });
}

// Why nobody answers, as far as the job's status tells it.
base::Result<> look_for_reason(cluster::Job& job) {
  GANGRUN_ASSIGN(const auto status, job.status());
  if (!job::is_final(status.state)) return {};
  return base::Error{base::Code::kFailedPrecondition,
                     base::format("{} has ended: {}", status.id, job::to_string(status.state))};
}

base::Result<cluster::Answer> ask(cluster::Job& job, const cluster::Question& question) {
  // Before anybody is asked: the others would answer, and the name that is wrong be overlooked.
  if (!question.tasks.empty()) {
    GANGRUN_ASSIGN(const auto status, job.status());
    GANGRUN_TRY(client::check_tasks(status, question.tasks));
  }
  auto answer = job.ask(question);
  if (answer.ok() && is_answered(*answer)) return answer;
  GANGRUN_TRY(look_for_reason(job));
  if (!answer.ok()) return answer;
  const auto passing = std::ranges::find_if(answer->tasks, &cluster::TaskAnswer::is_passing);
  if (passing == answer->tasks.end()) return answer;
  return base::unavailable(base::format("{}: {}", job::to_string(passing->task), passing->refused));
}

base::Result<cluster::Answer> ask(const StacksOptions& options, client::Context& context) {
  cluster::Question question;
  question.kind = process::kStacks;
  // People are shown one stack of each process.
  question.about = base::to_json(process::StackQuestion{.is_one_enough = !options.json});
  if (options.timeout) {
    GANGRUN_ASSIGN(
        question.limit,
        job::parse_duration(*options.timeout, cluster::kMaxQuestionLimit).context("--timeout"));
    if (question.limit.count() < 1) {
      return base::invalid_argument(
          base::format("--timeout {}: must be more than 0", *options.timeout));
    }
  }
  for (const std::string& text : options.tasks) {
    GANGRUN_ASSIGN(question.tasks.emplace_back(), job::parse_task_id(text));
  }
  GANGRUN_ASSIGN(const auto job, client::find_job(context, options.job));
  return client::with_next_master(context, [&] { return ask(*job, question); });
}

base::Result<client::ExitStatus> stacks(const StacksOptions& options, client::Context& context) {
  GANGRUN_ASSIGN(const auto answer, ask(options, context));
  context.console.out(options.json           ? base::dump_json(client::stacks_json(answer)) + "\n"
                      : answer.tasks.empty() ? std::string("No task runs.\n")
                                             : client::stacks_text(answer));
  return is_answered(answer) || answer.tasks.empty() ? client::ExitStatus::kSuccess
                                                     : client::ExitStatus::kJobFailed;
}

}  // namespace

client::Command stacks_command() {
  const auto options = std::make_shared<StacksOptions>();
  return {
      .name = "stacks",
      .summary = "Show where the processes of running tasks are.",
      .words = {job_word(options->job), {"TASK", &options->tasks}},
      .flags = {{"--timeout", &options->timeout, "TIME",
                 "How long the look at a task may take, at most 1m (default: 5s)"},
                {"--json", &options->json, "",
                 "Print all processes of all tasks as one JSON object"}},
      .footer =
          "Tasks with the same stack are shown once, the odd ones first. Python's stack is read "
          "by\npy-spy (pip install 'gangrun[stacks]'), that of other programs by eu-stack or "
          "gdb, where\nthey are installed beside the task. A process stands still for a moment "
          "while it is read.\nJOB is an id, the unambiguous beginning of one, or last; without "
          "it, the last one. TASK\nis like worker:0.\n\n"
          "Example:\n  gangrun stacks worker:0 worker:3\n",
      .action = acts(options, stacks)};
}

}  // namespace gangrun::cli
