#include "client/sites.h"

#include <utility>

#include "base/format.h"
#include "base/strings.h"
#include "client/place.h"
#include "host/job_folder.h"
#include "host/last_job.h"
#include "host/local_site.h"
#include "host/processes.h"
#include "job/choice.h"
#include "job/spec_names.h"

namespace gangrun::client {

base::Result<std::string> home_of(const Context& context) {
  return host::gangrun_home(context.variable("GANGRUN_HOME"), context.variable("HOME"));
}

base::Result<std::unique_ptr<cluster::Site>> home_site(const Context& context) {
  GANGRUN_ASSIGN(std::string home, home_of(context));
  const auto revived = [program = context.program](const host::JobPaths& paths,
                                                   base::Instant deadline) {
    return host::revive(program, paths, deadline);
  };
  const auto are_beside_us = [&places = context.places](const job::JobSpec& spec) {
    return places.rules().are_tasks_beside_master(spec);
  };
  std::unique_ptr<cluster::Site> site = std::make_unique<host::LocalSite>(
      home, host::LocalAccess{context.clock, revived, are_beside_us});
  for (const Place& place : context.places.all()) {
    site = place.jobs->with_own(context, std::move(site));
  }
  return site;
}

base::Result<std::unique_ptr<cluster::Job>> find_job(const Context& context,
                                                     const std::string& name) {
  const Place* place = context.places.with_job(name, context);
  GANGRUN_ASSIGN(const auto site,
                 place == nullptr ? home_site(context) : place->jobs->site(context));
  return site->find(name);
}

base::Result<LatestStatus> latest_status(cluster::Job& job) {
  auto answer = job.status();
  if (answer.ok()) return LatestStatus{*std::move(answer)};
  base::Error error = std::move(answer).error();
  if (error.code == base::Code::kUnavailable) {
    if (auto recorded = job.recorded_status()) {
      return LatestStatus{*std::move(recorded), std::move(error)};
    }
  }
  return error;
}

// A failure here keeps no job from running.
void note_as_last(Context& context, const std::string& id) {
  const auto home = home_of(context);
  base::Result<> noted;
  if (home.ok()) {
    noted = host::note_job_elsewhere(*home, id, context.clock.wall_now());
  } else {
    noted = home.error();
  }
  if (noted.ok()) return;
  context.console.error(
      base::format("warning: `last` will not mean {}: {}", id, noted.error().message));
}

std::string meant_job(const Context& context, const std::string& job) {
  if (job != job::kNewestJob) return job;
  const auto home = home_of(context);
  if (!home.ok()) return job;
  const auto elsewhere = host::newest_is_elsewhere(*home);
  return elsewhere && context.places.with_job(*elsewhere, context) != nullptr ? *elsewhere : job;
}

base::Result<std::unique_ptr<cluster::Site>> site_at(const Context& context,
                                                     const std::optional<std::string>& place) {
  if (!place) return home_site(context);
  const Place* found = context.places.find(*place);
  if (found != nullptr && found->jobs->are_listed()) return found->jobs->site(context);
  const auto known = context.places.names_with_jobs();
  return base::invalid_argument(
      base::format("--on: {}", job::not_one_of(*place, "a known place", known).message));
}

std::string places_with_jobs(const Places& places) {
  return base::format("{}", base::join(places.names_with_jobs(), "|"));
}

}  // namespace gangrun::client
