#include <memory>
#include <utility>

#include "base/json.h"
#include "cli/commands.h"
#include "cli/why.h"
#include "job/described.h"
#include "job/json_text.h"

namespace gangrun::cli {

namespace {

struct WhyOptions {
  std::string job;
  bool json = false;
};

base::Result<client::ExitStatus> tell_why(const WhyOptions& options, client::Context& context) {
  GANGRUN_ASSIGN(const auto job, client::find_job(context, options.job));
  GANGRUN_ASSIGN(const auto status, job->status());
  if (options.json) {
    base::Json texts = base::Json::array();
    for (const std::string& sentence : why(status)) texts.push_back(job::json_text(sentence));
    base::Json json{{"job", status.id},
                    {"state", job::to_string(status.state)},
                    {"reason", status.cause ? job::to_string(status.cause->why.reason) : ""},
                    {"waiting_for", job::json_text(status.waiting_for)},
                    {"why", std::move(texts)}};
    if (status.cause) json["cause"] = base::to_json(*status.cause);
    context.console.out(base::dump_json(json) + "\n");
    return client::ExitStatus::kSuccess;
  }
  context.console.out(why_lines(status));
  return client::ExitStatus::kSuccess;
}

}  // namespace

client::Command why_command() {
  const auto options = std::make_shared<WhyOptions>();
  return {
      .name = "why",
      .summary = "Explain what a job is waiting for, or why it ended.",
      .words = {job_word(options->job)},
      .flags = {{"--json", &options->json, "", "Print a JSON object"}},
      .footer =
          "JOB is an id, the unambiguous beginning of one, or last; without it, the last one.\n\n"
          "Example:\n  gangrun why\n",
      .action = acts(options, tell_why)};
}

}  // namespace gangrun::cli
