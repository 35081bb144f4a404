#include "cli/commands.h"

#include <utility>

#include "cli/detached.h"
#include "cluster/local/job_folder.h"
#include "cluster/local/local_site.h"

namespace gangrun::cli {

base::Result<std::string> home_of(const Context& context) {
  return cluster::gangrun_home(context.variable("GANGRUN_HOME"), context.variable("HOME"));
}

base::Result<std::unique_ptr<cluster::Site>> site_of(const Context& context) {
  GANGRUN_ASSIGN(std::string home, home_of(context));
  const auto revived = [program = context.program](const cluster::JobPaths& paths,
                                                   base::Instant deadline) {
    return revive(program, paths, deadline);
  };
  return std::unique_ptr<cluster::Site>(
      std::make_unique<cluster::LocalSite>(std::move(home), context.clock, revived));
}

ExitStatus fail(Context& context, const base::Error& error) {
  return fail(context, error, exit_status_of(error));
}

ExitStatus fail(Context& context, const base::Error& error, ExitStatus status) {
  context.console.error(error.message);
  return status;
}

}  // namespace gangrun::cli
