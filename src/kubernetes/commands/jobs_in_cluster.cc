#include "kubernetes/commands/jobs_in_cluster.h"

#include <algorithm>
#include <set>

#include "base/format.h"
#include "host/job_folder.h"
#include "job/spec_names.h"
#include "job/units.h"
#include "kubernetes/commands/cluster_status.h"
#include "kubernetes/pods/manifests.h"
#include "kubernetes/pods/pod_facts.h"
#include "kubernetes/records/head.h"
#include "kubernetes/value_at.h"

namespace gangrun::kubernetes::commands {

namespace {

using base::Json;
using base::Result;

bool is_newer(const cluster::ListedJob& one, const cluster::ListedJob& other) {
  return std::pair(one.status.submitted, one.status.id) >
         std::pair(other.status.submitted, other.status.id);
}

// A head that cannot be read: its labels tell which job it is of.
cluster::ListedJob unreadable_head(const Json& config_map, const base::Error& why) {
  cluster::ListedJob job;
  job.status.id = text_at(config_map, {"metadata", "labels", pods::kJobLabel});
  if (job.status.id.empty()) job.status.id = pods::name_of(config_map);
  job.status.submitted = text_at(config_map, {"metadata", "creationTimestamp"});
  job.unreadable = why.message;
  return job;
}

// Records that only lists have left, of jobs that are not there any more.
Result<> forget_gone(const std::string& home, const ClusterRecord& at,
                     const std::set<std::string>& there) {
  GANGRUN_ASSIGN(const auto records, list_cluster_records(home));
  for (const ClusterRecord& record : records) {
    const bool is_of_list =
        record.secret.empty() && record.server == at.server && record.name_space == at.name_space;
    if (is_of_list && !there.contains(record.id)) {
      GANGRUN_TRY(remove_cluster_record(home, record.id));
    }
  }
  return {};
}

bool is_local(const std::string& home, std::string_view job) {
  const auto ids = host::job_ids(home);
  return ids.ok() && host::resolve_job(*ids, job).ok();
}

}  // namespace

Result<std::vector<cluster::ListedJob>> JobsInCluster::list() {
  ClusterRecord at;
  GANGRUN_ASSIGN(const auto way, here_.way(at));
  const kubernetes::Access& access = way->client().access();
  at.name_space = access.name_space;
  at.context = access.context;
  at.server = access.remote.url;
  GANGRUN_ASSIGN(const std::vector<Json> heads, list_heads(*way, at.name_space));
  std::vector<cluster::ListedJob> jobs;
  std::set<std::string> there;
  for (const Json& head : heads) {
    GANGRUN_ASSIGN(cluster::ListedJob job, listed(head, at));
    there.insert(job.status.id);
    jobs.push_back(std::move(job));
  }
  GANGRUN_TRY(forget_gone(here_.home, at, there));
  std::ranges::stable_sort(jobs, is_newer);
  return jobs;
}

// The end of a job whose secret is known has more than the head's summary.
Result<cluster::ListedJob> JobsInCluster::listed(const Json& config_map, const ClusterRecord& at) {
  const auto read = records::head_in(config_map);
  if (!read.ok()) return unreadable_head(config_map, read.error());
  const records::Head& head = read->head;
  auto record = read_cluster_record(here_.home, head.job);
  if (!record.ok()) return unreadable_head(config_map, record.error());
  if (!*record) {
    const auto noted = write_cluster_record(here_.home, record_of_head(config_map, head, at));
    if (!noted.ok()) return unreadable_head(config_map, noted.error());
    return cluster::ListedJob{summary_of(head, here_.clock.wall_now())};
  }
  if (!(*record)->secret.empty() && !head.end.empty()) {
    auto status = PodMasterJob(here_, **std::move(record)).status_by(head);
    if (status.ok()) return cluster::ListedJob{*std::move(status)};
    return unreadable_head(config_map, status.error());
  }
  return cluster::ListedJob{summary_of(head, here_.clock.wall_now())};
}

Result<std::unique_ptr<cluster::Job>> JobsInCluster::find(std::string_view name) {
  GANGRUN_ASSIGN(std::unique_ptr<cluster::Job> job, find_job(name));
  return job;
}

Result<std::unique_ptr<PodMasterJob>> JobsInCluster::find_job(std::string_view name) {
  const std::size_t slash = name.find('/');
  const std::string_view id = slash == std::string_view::npos ? name : name.substr(slash + 1);
  ClusterRecord record;
  const auto known = recorded_id(here_.home, id);
  if (known) {
    GANGRUN_ASSIGN(auto kept, read_cluster_record(here_.home, *known));
    if (kept) record = *std::move(kept);
  }
  const bool is_elsewhere =
      slash != std::string_view::npos && record.name_space != name.substr(0, slash);
  if (record.id.empty() || is_elsewhere) {
    if (slash == std::string_view::npos) {
      return base::not_found(
          base::format("no job {} is known here; `gangrun ps --on kubernetes` "
                       "lists those of a namespace",
                       job::in_quotes(name)));
    }
    GANGRUN_ASSIGN(record, look_for(std::string(name.substr(0, slash)), std::string(id)));
  }
  return std::make_unique<PodMasterJob>(here_, std::move(record));
}

Result<ClusterRecord> JobsInCluster::look_for(const std::string& name_space,
                                              const std::string& id) {
  ClusterRecord at;
  at.name_space = name_space;
  GANGRUN_ASSIGN(const auto way, here_.way(at));
  at.context = way->client().access().context;
  at.server = way->client().access().remote.url;
  GANGRUN_ASSIGN(const std::vector<Json> heads, list_heads(*way, name_space, id));
  if (heads.empty()) {
    return base::not_found(base::format("the namespace {} at {} has no detached job {}", name_space,
                                        at.server, job::in_quotes(id)));
  }
  GANGRUN_ASSIGN(const records::ReadHead read, records::head_in(heads.front()));
  ClusterRecord record = record_of_head(heads.front(), read.head, at);
  // The record of a job that was submitted from here stays, whoever else uses its id.
  GANGRUN_ASSIGN(const auto kept, read_cluster_record(here_.home, record.id));
  if (kept && !kept->secret.empty()) {
    return base::Error{base::Code::kFailedPrecondition,
                       base::format("{} was submitted from here to the namespace {}; another job "
                                    "has its id in {}",
                                    record.id, kept->name_space, name_space)};
  }
  GANGRUN_TRY(write_cluster_record(here_.home, record));
  return record;
}

bool is_in_cluster(const std::string& home, std::string_view job) {
  // Which one is the last is not told by ids.
  if (job == job::kNewestJob) return false;
  const std::size_t slash = job.find('/');
  // A file is no job in a namespace.
  if (slash != std::string_view::npos) {
    return slash > 0 && !host::submitted_of(job.substr(slash + 1)).empty();
  }
  const auto known = recorded_id(home, job);
  return known && (*known == job || !is_local(home, job));
}

Result<std::vector<cluster::ListedJob>> RecordedJobs::list() {
  GANGRUN_ASSIGN(auto jobs, others_->list());
  GANGRUN_ASSIGN(const auto records, list_cluster_records(here_.home));
  std::set<std::string> silent;  // servers
  for (const ClusterRecord& record : records) {
    // Others were not submitted from here.
    if (record.secret.empty()) continue;
    PodMasterJob job(here_, record);
    auto status = silent.contains(record.server)
                      ? Result<job::JobStatus>(
                            base::unavailable(base::format("{} does not answer", record.server)))
                      : job.status();
    if (!status.ok()) silent.insert(record.server);
    cluster::ListedJob listed{status.ok() ? *std::move(status) : job.as_of_last()};
    if (!status.ok()) listed.silence = status.error().message;
    jobs.push_back(std::move(listed));
  }
  if (!records.empty()) std::ranges::stable_sort(jobs, is_newer);
  return jobs;
}

// A name that means a job of a cluster and none here does not come so far.
Result<std::unique_ptr<cluster::Job>> RecordedJobs::find(std::string_view name) {
  if (name == job::kNewestJob) return others_->find(name);
  const auto known = recorded_id(here_.home, name);
  if (known && is_local(here_.home, name)) {
    return base::not_found(base::format("{} is the beginning of a job here and of {} in a cluster",
                                        job::in_quotes(name), *known));
  }
  return others_->find(name);
}

}  // namespace gangrun::kubernetes::commands
