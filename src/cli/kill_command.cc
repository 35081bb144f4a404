#include <unistd.h>

#include <chrono>
#include <memory>

#include "base/format.h"
#include "cli/commands.h"
#include "client/ending_guard.h"
#include "host/ending_signals.h"
#include "host/own_user.h"

namespace gangrun::cli {

namespace {

struct KillOptions {
  std::string job;
  bool now = false;
};

std::string user_name() {
  const std::string name = host::own_user_name();
  return name.empty() ? base::format("user {}", ::getuid()) : name;
}

base::Result<client::ExitStatus> kill_job(const KillOptions& options, client::Context& context) {
  GANGRUN_ASSIGN(
      const auto guard,
      client::EndingGuard::start(
          {.signals = host::job_signals(), .last = 1, .patience = std::chrono::milliseconds(0)}));
  guard->set_words(base::format(
      "interrupted: whether {} was told to stop is not known, as nobody has confirmed it",
      options.job));
  GANGRUN_ASSIGN(const auto job, client::find_job(context, options.job));
  const std::string by = base::format("gangrun kill by {}", user_name());
  const auto told = job->stop(options.now, by);
  if (told.ok()) return client::ExitStatus::kSuccess;
  if (!options.now || told.error().code != base::Code::kUnavailable) return told.error();
  GANGRUN_ASSIGN(const auto how, job->stop_without_answer(by));
  if (!how) return told.error();
  context.console.error(*how);
  return client::ExitStatus::kSuccess;
}

}  // namespace

client::Command kill_command() {
  const auto options = std::make_shared<KillOptions>();
  return {.name = "kill",
          .summary = "Stop a job gracefully. Does not wait for its end.",
          .words = {{"JOB", &options->job, true}},
          .flags = {{"--now", &options->now, "", "Kill it at once, without a graceful shutdown"}},
          .footer =
              "JOB is an id, the unambiguous beginning of one, or last.\n\n"
              "Example:\n  gangrun kill wine && gangrun wait wine\n",
          .action = acts(options, kill_job)};
}

}  // namespace gangrun::cli
