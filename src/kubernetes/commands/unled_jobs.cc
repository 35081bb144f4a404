#include "kubernetes/commands/unled_jobs.h"

#include <unistd.h>

#include <optional>
#include <tuple>

#include "base/described.h"
#include "base/files.h"
#include "base/format.h"
#include "base/json.h"
#include "cluster/task_files.h"
#include "host/job_folder.h"
#include "host/local_site.h"
#include "job/described.h"

namespace gangrun::kubernetes::commands {

namespace {

using base::Result;

constexpr std::size_t kMaxUnledBytes = std::size_t{64} << 20U;

// The part that is told of kubernetes.json in the job's folder.
struct UnledRecord {
  std::string name_space;
  job::JobStatus last_seen{};

  static constexpr bool kIsOpen = true;
  static constexpr auto rows() {
    return std::tuple(base::row("namespace", &UnledRecord::name_space),
                      base::row("last_seen", &UnledRecord::last_seen));
  }
};

// None: the job is none of those.
Result<std::optional<UnledRecord>> unled_record(const host::JobPaths& paths) {
  const std::string path = paths.folder + "/kubernetes.json";
  if (::access(path.c_str(), F_OK) != 0) return std::optional<UnledRecord>();
  const auto text = base::read_file(path, kMaxUnledBytes);
  if (!text.ok()) return host::as_damage(text.error());
  const auto json = base::parse_json(*text, kMaxUnledBytes);
  if (!json.ok()) return host::as_damage(json.error().context(path));
  auto record = base::from_json<UnledRecord>(*json);
  if (!record.ok()) return host::as_damage(record.error().context(path));
  return std::optional(*std::move(record));
}

// Its pods may still be there.
job::JobStatus as_seen_last(const host::JobPaths& paths, UnledRecord record) {
  const bool is_known = job::is_final(record.last_seen.state);
  job::JobStatus status = host::without_master(std::move(record.last_seen));
  status.folder = paths.folder;
  if (!is_known) {
    status.cause->why.detail =
        "an earlier version started it without agents, and its end was not seen before nobody led "
        "such jobs any more";
  }
  status.notes = {
      base::format("no command asks its pods any more; `kubectl -n {0} get pods -l gangrun/job={1}`"
                   " shows what is left of them, `kubectl -n {0} delete job {1}-owner` ends it",
                   record.name_space, status.id)};
  return status;
}

class UnledJob final : public cluster::Job {
 public:
  explicit UnledJob(job::JobStatus status) : status_(std::move(status)) {}

  [[nodiscard]] std::string id() const override { return status_.id; }
  Result<job::JobStatus> status() override { return status_; }
  Result<std::unique_ptr<cluster::LogReader>> logs(
      const cluster::LogRequest& /*request*/) override {
    return nobody_leads_it();
  }
  Result<job::ClusterSpec> cluster_spec(int /*generation*/, base::Instant /*deadline*/) override {
    return nobody_leads_it();
  }
  Result<> stop(bool /*at_once*/, const std::string& /*by*/) override { return nobody_leads_it(); }
  Result<cluster::Answer> ask(const cluster::Question& /*question*/) override {
    return nobody_leads_it();
  }
  // A task without an agent has left none.
  Result<std::vector<cluster::TaskResult>> results() override {
    return std::vector<cluster::TaskResult>();
  }
  Result<> read_result(const job::TaskId& task, const cluster::ResultSink& /*sink*/) override {
    return cluster::no_result(task);
  }
  // Nothing of it changes any more.
  Result<> wait_for_change(base::Instant /*deadline*/) override { return {}; }

 private:
  [[nodiscard]] base::Error nobody_leads_it() const {
    return {base::Code::kFailedPrecondition,
            base::format("{}: an earlier version started it without agents; {}", status_.id,
                         status_.notes.front())};
  }

  const job::JobStatus status_;
};

}  // namespace

Result<std::vector<cluster::ListedJob>> UnledJobs::list() {
  GANGRUN_ASSIGN(auto jobs, others_->list());
  for (cluster::ListedJob& listed : jobs) {
    if (!listed.unreadable.empty()) continue;
    const host::JobPaths paths = host::paths_of(home_, listed.status.id);
    auto record = unled_record(paths);
    if (!record.ok()) {
      listed.unreadable = record.error().message;
    } else if (*record) {
      listed.status = as_seen_last(paths, **std::move(record));
    }
  }
  return jobs;
}

Result<std::unique_ptr<cluster::Job>> UnledJobs::find(std::string_view name) {
  GANGRUN_ASSIGN(std::unique_ptr<cluster::Job> job, others_->find(name));
  const host::JobPaths paths = host::paths_of(home_, job->id());
  GANGRUN_ASSIGN(auto record, unled_record(paths));
  if (!record) return job;
  return std::unique_ptr<cluster::Job>(
      std::make_unique<UnledJob>(as_seen_last(paths, *std::move(record))));
}

}  // namespace gangrun::kubernetes::commands
