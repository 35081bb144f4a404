#include <memory>
#include <optional>

#include "base/format.h"
#include "cli/command_builder.h"
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

void add_ps(CLI::App& app, Request& request) {
  CLI::App* command = add_command(app, "ps", "List jobs, newest first.");
  const auto options = std::make_shared<PsOptions>();
  add_flag(*command, "-a,--all", options->all,
           base::format("Show all ended jobs, not only the last {}", kShownEnded));
  add_value(*command, "--on", options->on, client::places_with_jobs(request.places),
            "List jobs of this machine, or of the YARN cluster that HADOOP_CONF_DIR names");
  add_flag(*command, "--json", options->json, "Print a list of JSON objects");
  add_footer(*command, "Example:\n  gangrun ps --json\n");
  acts(*command, request, options, ps);
}

}  // namespace gangrun::cli
