#include "cli/commands.h"

#include <utility>

#include "base/format.h"
#include "cli/detached.h"
#include "cli/hadoop_access.h"
#include "cli/kubernetes_site.h"
#include "cluster/local/job_folder.h"
#include "cluster/local/local_site.h"

namespace gangrun::cli {

base::Result<std::string> home_of(const Context& context) {
  return cluster::gangrun_home(context.variable("GANGRUN_HOME"), context.variable("HOME"));
}

bool is_on_yarn(const std::string& job) { return job.starts_with("application_"); }

base::Result<std::unique_ptr<cluster::Site>> site_of(const Context& context,
                                                     const std::string& job) {
  return site_at(context, std::string(is_on_yarn(job) ? job::kYarn : job::kLocal));
}

base::Result<std::unique_ptr<cluster::Site>> site_at(const Context& context,
                                                     const std::string& place) {
  if (place == job::kYarn) {
    GANGRUN_ASSIGN(const auto access, hadoop_access(context));
    return std::unique_ptr<cluster::Site>(yarn_site(*access, context));
  }
  if (place != job::kLocal) {
    return base::invalid_argument(base::format("--on: {} is not a known place; allowed: {}, {}",
                                               place, job::kLocal, job::kYarn));
  }
  GANGRUN_ASSIGN(std::string home, home_of(context));
  const auto revived = [program = context.program](const cluster::JobPaths& paths,
                                                   base::Instant deadline) {
    return revive(program, paths, deadline);
  };
  auto local = std::make_unique<cluster::LocalSite>(home, context.clock, revived);
  return std::unique_ptr<cluster::Site>(
      std::make_unique<KubernetesSite>(std::move(home), context, std::move(local)));
}

ExitStatus fail(Context& context, const base::Error& error) {
  return fail(context, error, exit_status_of(error));
}

ExitStatus fail(Context& context, const base::Error& error, ExitStatus status) {
  context.console.error(error.message);
  return status;
}

}  // namespace gangrun::cli
