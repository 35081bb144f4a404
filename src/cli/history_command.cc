#include <memory>
#include <optional>

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

base::Result<client::ExitStatus> history(const HistoryOptions& options, client::Context& context) {
  GANGRUN_ASSIGN(const auto filter,
                 history_filter(options.since, options.state, context.clock.wall_now()));
  GANGRUN_ASSIGN(const auto site, client::site_at(context, options.on));
  GANGRUN_ASSIGN(auto jobs, site->list());
  show_jobs(history_of(std::move(jobs), filter), options.json, context);
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
  acts(*command, request, options, history);
}

}  // namespace gangrun::cli
