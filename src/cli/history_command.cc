#include <memory>
#include <optional>

#include "base/json.h"
#include "cli/command_builder.h"
#include "cli/commands.h"
#include "cli/history.h"

namespace gangrun::cli {

namespace {

struct HistoryOptions {
  std::optional<std::string> on;
  std::optional<std::string> since;
  std::optional<std::string> state;
  bool json = false;
};

client::ExitStatus history(const HistoryOptions& options, client::Context& context) {
  const auto filter = history_filter(options.since, options.state, context.clock.wall_now());
  if (!filter.ok()) return fail(context, filter.error());
  const auto site = client::site_at(context, options.on);
  if (!site.ok()) return fail(context, site.error());
  auto jobs = (*site)->list();
  if (!jobs.ok()) return fail(context, jobs.error());
  const auto wanted = history_of(std::move(*jobs), *filter);
  if (options.json) {
    context.console.out(base::dump_json(to_json(wanted)) + "\n");
    return client::ExitStatus::kSuccess;
  }
  const auto size = context.console.size();
  context.console.out(job_table(wanted, size ? size->columns : 0));
  return client::ExitStatus::kSuccess;
}

}  // namespace

void add_history(CLI::App& app, Request& request) {
  CLI::App* command = add_command(
      app, "history", "List ended jobs, newest first, with their final state and first cause.");
  const auto options = std::make_shared<HistoryOptions>();
  add_value(
      *command, "--since", options->since, "TIME",
      "Only jobs submitted since then: a duration before now (2d) or a date in UTC (2026-01-31)");
  add_value(*command, "--state", options->state, "succeeded|failed|killed|lost",
            "Only jobs that ended in this state");
  add_value(*command, "--on", options->on, client::places_with_jobs(request.places),
            "List jobs of this machine, or of the YARN cluster that HADOOP_CONF_DIR names");
  add_flag(*command, "--json", options->json, "Print a list of JSON objects");
  add_footer(*command, "Example:\n  gangrun history --since 2d --state failed\n");
  on_chosen(*command, [&request, options] {
    request.action = [options](client::Context& context) { return history(*options, context); };
  });
}

}  // namespace gangrun::cli
