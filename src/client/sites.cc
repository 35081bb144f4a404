#include "client/sites.h"

#include <utility>

#include "base/format.h"
#include "base/strings.h"
#include "client/place.h"
#include "cluster/kept/job_folder.h"
#include "cluster/kept/local_site.h"
#include "host/processes.h"
#include "job/choice.h"

namespace gangrun::client {

base::Result<std::string> home_of(const Context& context) {
  return cluster::gangrun_home(context.variable("GANGRUN_HOME"), context.variable("HOME"));
}

base::Result<std::unique_ptr<cluster::Site>> home_site(const Context& context) {
  GANGRUN_ASSIGN(std::string home, home_of(context));
  const auto revived = [program = context.program](const cluster::JobPaths& paths,
                                                   base::Instant deadline) {
    return host::revive(program, paths, deadline);
  };
  std::unique_ptr<cluster::Site> site = std::make_unique<cluster::LocalSite>(
      home, context.clock, revived, [&places = context.places](const job::JobSpec& spec) {
        return places.rules().are_tasks_beside_master(spec);
      });
  for (const auto& place : context.places.all()) {
    site = place->with_own_site(home, context, std::move(site));
  }
  return site;
}

base::Result<std::unique_ptr<cluster::Site>> site_of(const Context& context,
                                                     const std::string& job) {
  const Place* place = context.places.with_job(job);
  return place == nullptr ? home_site(context) : place->site(context);
}

base::Result<std::unique_ptr<cluster::Site>> site_at(const Context& context,
                                                     const std::optional<std::string>& place) {
  if (!place) return home_site(context);
  const Place* found = context.places.find(*place);
  if (found != nullptr && found->lists_jobs()) return found->site(context);
  const auto known = context.places.names_with_jobs();
  return base::invalid_argument(
      base::format("--on: {}", job::not_one_of(*place, "a known place", known).message));
}

std::string places_with_jobs(const Places& places) {
  return base::format("{}", base::join(places.names_with_jobs(), "|"));
}

}  // namespace gangrun::client
