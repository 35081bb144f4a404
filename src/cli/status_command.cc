#include <memory>

#include "base/json.h"
#include "cli/commands.h"
#include "client/job_view.h"
#include "client/place.h"
#include "client/render.h"
#include "client/report.h"
#include "client/sites.h"
#include "client/text.h"

namespace gangrun::cli {

namespace {

struct StatusOptions {
  std::string job;
  bool json = false;
};

base::Result<client::ExitStatus> status(const StatusOptions& options, client::Context& context) {
  GANGRUN_ASSIGN(const auto job, client::find_job(context, options.job));
  GANGRUN_ASSIGN(const auto latest, client::latest_status(*job));
  const job::JobStatus& found = latest.status;
  const auto end = [&] {
    return latest.silence ? fail(context, *latest.silence) : client::ExitStatus::kSuccess;
  };
  if (options.json) {
    std::string url;
    if (const client::Place* place = context.places.with_job(found.id, context)) {
      url = place->jobs->page_url(found.id, context);
    }
    context.console.out(base::dump_json(client::shown_json(found, url)) + "\n");
    return end();
  }
  client::Lines lines = client::render_header(found);
  const auto size = context.console.size();
  const client::Lines tasks = client::render_tasks(found, size ? size->columns : 0);
  lines.insert(lines.end(), tasks.begin(), tasks.end());
  for (const std::string& sentence : client::missing_lines(found, {})) {
    lines.emplace_back(sentence);
  }
  for (const std::string& sentence : client::lost_outputs(found)) lines.emplace_back(sentence);
  for (const std::string& note : found.notes) lines.emplace_back(client::harmless_sentence(note));
  if (job::is_final(found.state)) {
    const client::Lines report = client::end_report(found);
    lines.emplace_back("");
    lines.insert(lines.end(), report.begin(), report.end());
  }
  context.console.out(lines);
  return end();
}

}  // namespace

client::Command status_command() {
  const auto options = std::make_shared<StatusOptions>();
  return {
      .name = "status",
      .summary = "Show one job: its state, its tasks, its cause.",
      .words = {job_word(options->job)},
      .flags = {{"--json", &options->json, "", "Print a JSON object"}},
      .footer =
          "JOB is an id, the unambiguous beginning of one, or last; without it, the last one.\n\n"
          "Example:\n  gangrun status\n",
      .action = acts(options, status)};
}

}  // namespace gangrun::cli
