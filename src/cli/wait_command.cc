#include <algorithm>
#include <chrono>
#include <memory>

#include "base/format.h"
#include "base/json.h"
#include "cli/commands.h"
#include "client/report.h"
#include "job/described.h"
#include "job/units.h"

namespace gangrun::cli {

namespace {

struct WaitOptions {
  std::string job;
  std::optional<std::string> timeout;
  bool json = false;
};

// How long a change that nobody told of may go unnoticed.
constexpr std::chrono::seconds kLongestWait(1);
// Once a master has told the end, what the cluster takes to see it; the verdict stands without.
constexpr std::chrono::seconds kClusterTimeout(30);

base::Result<job::JobStatus> wait_for_end(cluster::Job& job, std::optional<base::Instant> deadline,
                                          const base::Clock& clock) {
  GANGRUN_ASSIGN(job::JobStatus status, job.status());
  while (!job::is_final(status.state)) {
    const base::Instant now = clock.now();
    if (deadline && now >= *deadline) {
      return base::deadline_exceeded(base::format("{} is still {} at the time limit", status.id,
                                                  job::to_string(status.state)));
    }
    const base::Instant next = now + kLongestWait;
    GANGRUN_TRY(job.wait_for_change(deadline ? std::min(next, *deadline) : next));
    GANGRUN_ASSIGN(status, job.status());
  }
  const base::Instant patience = clock.now() + kClusterTimeout;
  GANGRUN_TRY(job.wait_for_cluster(deadline ? std::min(patience, *deadline) : patience));
  return status;
}

base::Result<client::ExitStatus> wait(const WaitOptions& options, client::Context& context) {
  std::optional<base::Instant> deadline;
  if (options.timeout) {
    GANGRUN_ASSIGN(const auto limit, job::parse_duration(*options.timeout).context("--timeout"));
    deadline = context.commanded_at + limit;
  }
  GANGRUN_ASSIGN(const auto job, client::find_job(context, options.job));
  GANGRUN_ASSIGN(const auto status, wait_for_end(*job, deadline, context.clock));
  if (options.json) {
    context.console.out(base::dump_json(base::to_json(status)) + "\n");
  } else {
    context.console.out(client::end_report(status));
  }
  return client::exit_status_of(status, false);
}

}  // namespace

client::Command wait_command() {
  const auto options = std::make_shared<WaitOptions>();
  return {
      .name = "wait",
      .summary = "Wait for the end of a job and exit as `run` would have.",
      .words = {job_word(options->job)},
      .flags = {{"--timeout", &options->timeout, "TIME", "Give up waiting after this time"},
                {"--json", &options->json, "", "Print the final status as a JSON object"}},
      .footer =
          "JOB is an id, the unambiguous beginning of one, or last; without it, the last one.\n\n"
          "Example:\n  gangrun wait --timeout 2h wine\n",
      .action = acts(options, wait)};
}

}  // namespace gangrun::cli
