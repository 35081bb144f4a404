#include <memory>

#include "base/json.h"
#include "cli/commands.h"
#include "cli/flags.h"
#include "cli/job_view.h"
#include "cli/place.h"
#include "cli/render.h"
#include "cli/report.h"

namespace gangrun::cli {

namespace {

struct StatusOptions {
  std::string job;
  bool json = false;
};

ExitStatus status(const StatusOptions& options, Context& context) {
  const auto site = site_of(context, options.job);
  if (!site.ok()) return fail(context, site.error());
  const auto found = (*site)->status(options.job);
  if (!found.ok()) return fail(context, found.error());
  if (options.json) {
    std::string url;
    if (const Place* place = context.places.with_job(found->id)) {
      url = place->own_jobs()->page_url(found->id, context);
    }
    context.console.out(base::dump_json(shown_json(*found, url)) + "\n");
    return ExitStatus::kSuccess;
  }
  Lines lines = render_header(*found);
  const auto size = context.console.size();
  const Lines tasks = render_tasks(*found, size ? size->columns : 0);
  lines.insert(lines.end(), tasks.begin(), tasks.end());
  if (job::is_final(found->state)) {
    const Lines end = end_report(*found);
    lines.emplace_back("");
    lines.insert(lines.end(), end.begin(), end.end());
  }
  context.console.out(lines);
  return ExitStatus::kSuccess;
}

}  // namespace

void add_status(CLI::App& app, Request& request) {
  CLI::App* command = add_command(app, "status", "Show one job: its state, its tasks, its cause.");
  const auto options = std::make_shared<StatusOptions>();
  add_positional(*command, "JOB", options->job, true);
  add_flag(*command, "--json", options->json, "Print a JSON object");
  add_footer(
      *command,
      "JOB is an id, the unambiguous beginning of one, or last.\n\nExample:\n  gangrun status "
      "last\n");
  on_chosen(*command, [&request, options] {
    request.action = [options](Context& context) { return status(*options, context); };
  });
}

}  // namespace gangrun::cli
