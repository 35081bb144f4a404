#include "client/removal.h"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <system_error>
#include <vector>

#include "base/files.h"
#include "base/format.h"
#include "client/place.h"
#include "client/run_record.h"
#include "client/sites.h"
#include "host/last_job.h"
#include "host/local_site.h"
#include "process/wait_for.h"

namespace gangrun::client {

namespace {

namespace fs = std::filesystem;

using base::Result;

constexpr std::size_t kMaxIdBytes = 256;
// A removal that is over so soon need not be told.
constexpr std::chrono::milliseconds kMoment(500);
// A lock that is let go of tells nobody.
constexpr std::chrono::milliseconds kLookAgain(20);

bool is_led(const host::JobPaths& paths) {
  return host::has_master(paths) || host::has_supervisor(paths);
}

base::Error not_ended(const std::string& id) {
  return base::Error{base::Code::kFailedPrecondition,
                     base::format("{} has not ended; gangrun kill {} ends it", id, id)};
}

// The folder that the Python package has made for the job and kept (python/gangrun/_staging.py).
void remove_staging(const std::string& home, const std::string& id) {
  std::error_code failed;
  std::vector<fs::path> folders;
  for (const auto& entry : fs::directory_iterator(home + "/python", failed)) {
    const auto owner = base::read_file((entry.path() / "owner").string(), kMaxIdBytes);
    if (owner.ok() && *owner == id) folders.push_back(entry.path());
  }
  for (const fs::path& folder : folders) {
    // It may be a link to one in the folder where the job was started.
    fs::remove_all(fs::canonical(folder, failed), failed);
    fs::remove_all(folder, failed);
  }
}

Result<> remove_brought(const std::string& folder) {
  std::error_code failed;
  fs::remove_all(folder, failed);
  if (failed) return base::from_errno(failed.value(), base::format("remove {}", folder));
  return {};
}

}  // namespace

std::string brought_folder(const std::string& home, const std::string& id) {
  return base::format("{}/outputs/{}", home, id);
}

std::string folder_of_task(const std::string& task) {
  const auto id = job::parse_task_id(task);
  return id.ok() ? base::format("{}-{}", id->type, id->index) : task;
}

Result<bool> goes_on(const Context& context, const host::JobPaths& paths,
                     const Result<job::JobStatus>& status, base::Duration limit) {
  // A detached job may go on without a master for a while. One whose record cannot be read has
  // none.
  if (!status.ok()) return is_led(paths);
  if (!job::is_final(status->state)) return true;
  const base::Instant begin = context.clock.now();
  bool is_said = false;
  while (is_led(paths)) {
    const base::Instant now = context.clock.now();
    if (now >= begin + limit) {
      return base::unavailable(
          base::format("{} has ended, and its master still records that after {}; try again",
                       status->id, base::to_words(limit)));
    }
    if (!is_said && now >= begin + kMoment) {
      is_said = true;
      context.console.err(
          base::format("gangrun: waits for the master of {}, which records its end; limit in {}\n",
                       status->id, base::to_words(begin + limit - now)));
    }
    (void)process::wait_any_readable({}, std::min(begin + limit, now + kLookAgain));
  }
  return false;
}

Result<std::string> ended_job(const Context& context, const std::string& job) {
  if (const Place* place = context.places.with_job(job, context)) {
    return place->jobs->ended_job(job, context);
  }
  GANGRUN_ASSIGN(const std::string home, home_of(context));
  GANGRUN_ASSIGN(const auto found, find_job(context, job));
  std::string id = found->id();
  GANGRUN_ASSIGN(const bool is_on, goes_on(context, host::paths_of(home, id), found->status()));
  if (is_on) return not_ended(id);
  return id;
}

Result<> remove_job(Context& context, const std::string& id) {
  GANGRUN_ASSIGN(const std::string home, home_of(context));
  if (const Place* place = context.places.with_job(id, context)) {
    GANGRUN_TRY(place->jobs->remove({id}, context));
    host::forget_job_elsewhere(home, id);
    forget_run(home, id);
    GANGRUN_TRY(remove_brought(brought_folder(home, id)));
    remove_staging(home, id);
    return {};
  }
  const host::JobPaths paths = host::paths_of(home, id);
  const auto spec = host::stored_spec(paths, context.places.rules().sections());
  // If a job's description cannot be read, nobody knows where the job was.
  if (spec.ok()) {
    if (const Place* place = context.places.find(spec->on)) {
      GANGRUN_TRY(place->jobs->remove({id, &*spec, &paths}, context));
    }
  }
  GANGRUN_TRY(host::remove_ended_job(paths));
  remove_staging(home, id);
  return {};
}

}  // namespace gangrun::client
