#include <memory>
#include <optional>

#include "base/format.h"
#include "cli/commands.h"
#include "cli/history.h"

namespace gangrun::cli {

namespace {

struct PsOptions {
  std::optional<std::string> on;
  bool all = false;
  bool json = false;
};

// Ended jobs that are listed without --all.
constexpr std::size_t kShownEnded = 20;

base::Result<client::ExitStatus> ps(const PsOptions& options, client::Context& context) {
  GANGRUN_ASSIGN(const auto site, client::site_at(context, options.on));
  GANGRUN_ASSIGN(auto jobs, site->list());
  std::size_t ended = 0;
  std::erase_if(jobs, [&](const cluster::ListedJob& job) {
    return !options.all && has_ended(job) && ++ended > kShownEnded;
  });
  show_jobs(jobs, options.json, context);
  return client::ExitStatus::kSuccess;
}

}  // namespace

client::Command ps_command(const client::Places& places) {
  const auto options = std::make_shared<PsOptions>();
  return {
      .name = "ps",
      .summary = "List jobs, newest first.",
      .flags = {{"-a,--all", &options->all, "",
                 base::format("Show all ended jobs, not only the last {}", kShownEnded)},
                {"--on", &options->on, client::places_with_jobs(places),
                 "List jobs of this machine, of the YARN cluster that HADOOP_CONF_DIR names, or "
                 "detached jobs of the namespace to which the kubeconfig leads"},
                {"--json", &options->json, "", "Print a list of JSON objects"}},
      .footer = "Example:\n  gangrun ps --json\n",
      .action = acts(options, ps)};
}

}  // namespace gangrun::cli
