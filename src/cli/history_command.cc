#include <memory>
#include <optional>

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

client::Command history_command(const client::Places& places) {
  const auto options = std::make_shared<HistoryOptions>();
  return {
      .name = "history",
      .summary = "List ended jobs, newest first, with their final state and first cause.",
      .flags = {{"--since", &options->since, "TIME",
                 "Only jobs submitted since then: a duration before now (2d) or a date in UTC "
                 "(2026-01-31)"},
                {"--state", &options->state, "succeeded|failed|killed|lost",
                 "Only jobs that ended in this state"},
                {"--on", &options->on, client::places_with_jobs(places),
                 "List jobs of this machine, of the YARN cluster that HADOOP_CONF_DIR names, or "
                 "detached jobs of the namespace to which the kubeconfig leads"},
                {"--json", &options->json, "", "Print a list of JSON objects"}},
      .footer = "Example:\n  gangrun history --since 2d --state failed\n",
      .action = acts(options, history)};
}

}  // namespace gangrun::cli
