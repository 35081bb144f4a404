#include <memory>
#include <optional>

#include "base/format.h"
#include "base/json.h"
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

client::ExitStatus ps(const PsOptions& options, client::Context& context) {
  const auto site = client::site_at(context, options.on);
  if (!site.ok()) return fail(context, site.error());
  auto jobs = (*site)->list();
  if (!jobs.ok()) return fail(context, jobs.error());
  std::size_t ended = 0;
  std::erase_if(*jobs, [&](const cluster::ListedJob& job) {
    return !options.all && has_ended(job) && ++ended > kShownEnded;
  });
  if (options.json) {
    context.console.out(base::dump_json(to_json(*jobs)) + "\n");
    return client::ExitStatus::kSuccess;
  }
  const auto size = context.console.size();
  context.console.out(job_table(*jobs, size ? size->columns : 0));
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
  on_chosen(*command, [&request, options] {
    request.action = [options](client::Context& context) { return ps(*options, context); };
  });
}

}  // namespace gangrun::cli
