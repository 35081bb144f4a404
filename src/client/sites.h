#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "client/context.h"
#include "cluster/site.h"

namespace gangrun::client {

// The folder of the jobs of this machine.
base::Result<std::string> home_of(const Context& context);
// The job of this name (see cluster::Site::find), at the place that knows it.
base::Result<std::unique_ptr<cluster::Job>> find_job(const Context& context,
                                                     const std::string& name);
// A job's status, and the silence of its master where that does not answer: the status is then the
// last that is recorded here, which may be old.
struct LatestStatus {
  job::JobStatus status;
  std::optional<base::Error> silence{};
};
base::Result<LatestStatus> latest_status(cluster::Job& job);
// A user's "last" is the job that was submitted last from here, wherever it runs: one that its
// place keeps itself is noted, and meant_job() gives its id then; else the name as it is.
void note_as_last(Context& context, const std::string& id);
std::string meant_job(const Context& context, const std::string& job);
// The jobs of a place; none is named: those of this machine.
base::Result<std::unique_ptr<cluster::Site>> site_at(const Context& context,
                                                     const std::optional<std::string>& place);
// The jobs that are kept on this machine, wherever their tasks run.
base::Result<std::unique_ptr<cluster::Site>> home_site(const Context& context);
// "local|yarn": what `--on` of `ps` and the like may name.
std::string places_with_jobs(const Places& places);

}  // namespace gangrun::client
