#include <unistd.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "base/format.h"
#include "base/json.h"
#include "cli/commands.h"
#include "client/removal.h"
#include "client/text.h"

namespace gangrun::cli {

namespace {

struct RmOptions {
  std::vector<std::string> jobs;
  bool yes = false;
  bool json = false;
};

// All of them, before anything is removed.
base::Result<std::vector<std::string>> chosen_jobs(const RmOptions& options,
                                                   const client::Context& context) {
  std::vector<std::string> ids;
  for (const std::string& job : options.jobs) {
    GANGRUN_ASSIGN(std::string id, client::ended_job(context, job));
    if (std::find(ids.begin(), ids.end(), id) == ids.end()) ids.push_back(std::move(id));
  }
  return ids;
}

base::Result<client::ExitStatus> remove_jobs(const RmOptions& options, client::Context& context) {
  GANGRUN_ASSIGN(const auto ids, chosen_jobs(options, context));
  if (!options.yes && ::isatty(STDIN_FILENO) == 0) {
    return fail(context,
                base::invalid_argument("rm asks before it removes, and there is no terminal to "
                                       "answer on; say --yes"),
                client::ExitStatus::kBadInput);
  }
  if (!options.yes) {
    for (const std::string& id : ids) context.console.err(base::format("{}\n", id));
    context.console.err(
        base::format("remove {} with all logs, results and outputs? y/[n] ",
                     client::count_text(static_cast<std::int64_t>(ids.size()), "job")));
    if (!client::is_agreed()) {
      context.console.err("nothing was removed\n");
      return client::ExitStatus::kSuccess;
    }
  }
  client::ExitStatus status = client::ExitStatus::kSuccess;
  std::vector<std::string> removed;
  for (const std::string& id : ids) {
    const auto done = client::remove_job(context, id);
    if (!done.ok()) {
      status = fail(context, done.error(), client::ExitStatus::kFailed);
    } else if (options.json) {
      removed.push_back(id);
    } else {
      context.console.out(base::format("removed {}\n", id));
    }
  }
  if (options.json) context.console.out(base::dump_json({{"removed", removed}}) + "\n");
  return status;
}

}  // namespace

client::Command rm_command() {
  const auto options = std::make_shared<RmOptions>();
  return {
      .name = "rm",
      .summary = "Remove ended jobs, with all that is kept of them.",
      .words = {{"JOB", &options->jobs, true}},
      .flags = {{"-y,--yes", &options->yes, "", "Do not ask"},
                {"--json", &options->json, "", "Print the ids as one JSON object"}},
      .footer =
          "Removes the folders, logs, results, outputs and journals of jobs that have ended, and "
          "what\ntheir hosts have kept of them; of a job of YARN what HDFS has of it. JOB is an "
          "id, "
          "the\nunambiguous beginning of one, or last.\n\nExample:\n  gangrun rm --yes wine-2026\n",
      .action = acts(options, remove_jobs)};
}

}  // namespace gangrun::cli
