#include "cli/commands.h"

#include <utility>

#include "base/format.h"
#include "cli/detached.h"
#include "cli/hadoop_access.h"
#include "cli/kubernetes_site.h"
#include "cluster/local/job_folder.h"
#include "cluster/local/local_rules.h"
#include "cluster/local/local_site.h"
#include "cluster/yarn/yarn_rules.h"
#include "places/places.h"

namespace gangrun::cli {

base::Result<std::string> home_of(const Context& context) {
  return cluster::gangrun_home(context.variable("GANGRUN_HOME"), context.variable("HOME"));
}

bool is_on_yarn(const std::string& job) { return job.starts_with("application_"); }

base::Result<std::unique_ptr<cluster::Site>> site_of(const Context& context,
                                                     const std::string& job) {
  return site_at(context, std::string(is_on_yarn(job) ? cluster::kYarn : cluster::kLocal));
}

base::Result<std::unique_ptr<cluster::Site>> site_at(const Context& context,
                                                     const std::string& place) {
  if (place == cluster::kYarn) {
    GANGRUN_ASSIGN(const auto access, hadoop_access(context));
    return std::unique_ptr<cluster::Site>(yarn_site(*access, context));
  }
  if (place != cluster::kLocal) {
    return base::invalid_argument(base::format("--on: {} is not a known place; allowed: {}, {}",
                                               place, cluster::kLocal, cluster::kYarn));
  }
  GANGRUN_ASSIGN(std::string home, home_of(context));
  const auto revived = [program = context.program](const cluster::JobPaths& paths,
                                                   base::Instant deadline) {
    return revive(program, paths, deadline);
  };
  auto local = std::make_unique<cluster::LocalSite>(
      home, context.clock, revived,
      [](const job::JobSpec& spec) { return places::rules().are_tasks_beside_master(spec); });
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
