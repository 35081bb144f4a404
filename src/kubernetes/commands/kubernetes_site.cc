#include "kubernetes/commands/kubernetes_site.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <set>

#include "base/format.h"
#include "base/json.h"
#include "cluster/asking.h"
#include "host/local_site.h"
#include "job/exit_report.h"
#include "kubernetes/commands/cluster_status.h"
#include "kubernetes/commands/detached_logs.h"
#include "kubernetes/commands/first_pods.h"
#include "kubernetes/commands/pods_record.h"
#include "kubernetes/pods/detached_status.h"
#include "kubernetes/pods/errands.h"
#include "kubernetes/pods/names.h"
#include "kubernetes/pods/pod_notices.h"
#include "kubernetes/pods/pod_runs.h"
#include "kubernetes/pods/where_pods_work.h"

namespace gangrun::kubernetes::commands {

namespace {

using base::Json;
using base::Result;

constexpr base::seconds kAnswerLimit(10);
// How often one who waits for a change reads the pods.
constexpr base::seconds kPodsInterval(1);
// For all tasks of a job together.
constexpr base::seconds kNoticesLimit(60);
// The grace of a pod that is to end at once, in seconds.
constexpr int kShortestGrace = 1;

Result<Json> ask(PodsWay& way, kubernetes::Request request) {
  return kubernetes::ask(way.loop, *way.client, std::move(request), way.loop.now() + kAnswerLimit);
}

std::string pods_path(const PodsWay& way) {
  return base::format("/api/v1/namespaces/{}/pods", way.manifests->input().name_space);
}

Result<pods::PodsByTask> pods_of(PodsWay& way) {
  GANGRUN_ASSIGN(
      const std::vector<Json> pods,
      kubernetes::list(way.loop, *way.client, pods_path(way),
                       {{"labelSelector", pods::job_selector(way.manifests->input().job_id)}},
                       way.loop.now() + kAnswerLimit));
  return pods::pods_by_task(*way.manifests, pods);
}

// The last lines of the task that failed, as far as there is a log.
void add_last_lines(PodsWay& way, job::Cause& cause) {
  pods::LastLines lines;
  bool has_ended = false;
  kubernetes::LogRequest request;
  request.name_space = way.manifests->input().name_space;
  request.pod = way.manifests->pod_name(*cause.task);
  request.container = way.manifests->container_of(*cause.task);
  request.follow = false;
  kubernetes::LogCallbacks callbacks;
  callbacks.on_line = [&](std::string_view, std::string_view text) {
    lines.add(std::string(text));
  };
  callbacks.on_end = [&](const Result<>&) { has_ended = true; };
  const auto reading = way.client->read_log(std::move(request), std::move(callbacks));
  (void)way.loop.run_until([&] { return has_ended; }, way.loop.now() + kAnswerLimit);
  job::ExitReport report = lines.completed({});
  cause.has_both_streams = true;
  cause.traceback = std::move(report.traceback);
  cause.last_lines = std::move(report.last_lines);
}

job::Cause cause_of_loss(const PodsRecord& record) {
  std::string detail = base::format(
      "its pods are gone and its end was not seen: they were deleted, or its time limit ({}) has "
      "passed",
      base::to_words(record.lease));
  return {.why = {.reason = job::Reason::kMasterLost, .detail = std::move(detail)}};
}

job::JobStatus status_by(const PodsRecord& record, const pods::Manifests& manifests,
                         const pods::PodsByTask& pods) {
  if (job::is_final(record.last_seen.state)) {
    return pods::after_verdict(record.last_seen, manifests, pods);
  }
  if (!record.stopped_by.empty()) {
    return pods::after_stop(record.last_seen, record.stopped_by, manifests, pods);
  }
  job::JobStatus status = pods::detached_status(manifests, pods);
  if (status.state == job::JobState::kLost) status.cause = cause_of_loss(record);
  return status;
}

// There is no such object, or another one has its name now.
bool is_gone(const base::Error& error) {
  return error.code == base::Code::kNotFound || error.code == base::Code::kFailedPrecondition;
}

// The uid of the job's owner; none: it is gone, and what has its name is somebody else's.
Result<std::optional<std::string>> owner_uid(PodsWay& way) {
  const auto owner = ask(way, {.path = pods::owner_path(way.manifests->input())});
  if (!owner.ok() && owner.error().code != base::Code::kNotFound) return owner.error();
  if (!owner.ok() || !pods::is_of_job(*owner, way.manifests->input().job_id)) {
    return std::optional<std::string>();
  }
  return std::optional(pods::uid_of(*owner));
}

// The node of a pod that had longer to end does not shorten that: such a one is not waited for.
int grace_at_once(const pods::PodFacts& pod) {
  return pod.is_deleting && pod.deletion_grace.count() > kShortestGrace ? 0 : kShortestGrace;
}

// True where there were any.
Result<bool> end_pods_at_once(PodsWay& way) {
  GANGRUN_ASSIGN(const auto pods, pods_of(way));
  for (const auto& [task, pod] : pods) {
    const int grace = grace_at_once(pod);
    kubernetes::Request request{.method = "DELETE",
                                .path = base::format("{}/{}", pods_path(way), pod.name),
                                .body = {{"apiVersion", "v1"},
                                         {"kind", "DeleteOptions"},
                                         {"gracePeriodSeconds", grace},
                                         {"preconditions", {{"uid", pod.uid}}}}};
    const auto deleted = ask(way, std::move(request));
    if (!deleted.ok() && !is_gone(deleted.error())) return deleted.error();
    if (grace > 0) continue;
    way.logger->error("{} may run on for up to {} on {}, the time to end that it was given first",
                      job::to_string(task), base::to_words(pod.deletion_grace), pod.node);
  }
  return !pods.empty();
}

// All that there is of the job belongs to its owner.
Result<> delete_all(PodsWay& way, bool at_once) {
  bool had_pods = false;
  if (at_once) {
    GANGRUN_ASSIGN(had_pods, end_pods_at_once(way));
  }
  GANGRUN_ASSIGN(const auto uid, owner_uid(way));
  if (uid) {
    kubernetes::Request request{.method = "DELETE",
                                .path = pods::owner_path(way.manifests->input()),
                                .body = {{"apiVersion", "v1"},
                                         {"kind", "DeleteOptions"},
                                         {"propagationPolicy", "Background"},
                                         {"preconditions", {{"uid", *uid}}}}};
    const auto deleted = ask(way, std::move(request));
    if (deleted.ok()) return {};
    if (!is_gone(deleted.error())) return deleted.error();
  }
  if (had_pods) return {};
  return base::Error{base::Code::kFailedPrecondition,
                     base::format("{} has ended already", way.manifests->input().job_id)};
}

Result<> give_notices(PodsWay& way, const std::vector<job::TaskId>& tasks, const std::string& by) {
  std::optional<std::vector<std::string>> failures;
  pods::PodNotices notices(way.loop, *way.logger, *way.client, *way.manifests,
                           [&](auto told) { failures = std::move(told); });
  notices.give(tasks, by);
  if (!way.loop.run_until([&] { return failures.has_value(); }, way.loop.now() + kNoticesLimit)) {
    return base::deadline_exceeded(base::format("{}: not all tasks were given notice within {}", by,
                                                base::to_words(kNoticesLimit)));
  }
  if (failures->empty()) return {};
  return base::unavailable(base::format("{}", base::join(*failures, "; ")));
}

// `all`: the job's tasks, in its order.
Result<cluster::Answer> ask_pods(PodsWay& way, const std::vector<job::TaskStatus>& all,
                                 const cluster::Question& question) {
  GANGRUN_ASSIGN(const auto pods, pods_of(way));
  std::vector<cluster::AskableTask> tasks;
  for (const job::TaskStatus& status : all) {
    const auto pod = pods.find(status.task);
    tasks.push_back(
        {status.task, pod != pods.end() && !pod->second.is_deleting &&
                          pod->second.task.state == pods::ContainerFacts::State::kRunning});
  }
  const bool is_notice = question.kind == cluster::kNotice;
  Result<> given;
  cluster::Answer answer;
  cluster::ask_tasks(
      question, tasks, [&answer](cluster::Answer whole) { answer = std::move(whole); },
      [&](const cluster::Question& to_ask, const cluster::OnTaskAnswer& told) {
        if (is_notice) given = give_notices(way, to_ask.tasks, cluster::notice_by(question));
        for (const job::TaskId& task : to_ask.tasks) {
          told(task, is_notice ? Result<Json>(Json()) : cluster::no_agent_there());
        }
      });
  GANGRUN_TRY(given);
  return answer;
}

// None: the job is none of those.
Result<std::optional<PodsRecord>> record_of(const host::JobPaths& paths) {
  auto record = read_pods_record(paths);
  return record.ok() ? std::move(record) : host::as_damage(std::move(record).error());
}

// A job that no client leads. What other commands write into its record is read before each
// question.
class DetachedJob final : public cluster::Job {
 public:
  // `on_this_machine`: the same job as its folder has it; null: results are not asked for.
  DetachedJob(const client::Context& context, host::JobPaths paths, PodsRecord record,
              std::unique_ptr<cluster::Job> on_this_machine)
      : context_(context),
        paths_(std::move(paths)),
        record_(std::move(record)),
        on_this_machine_(std::move(on_this_machine)) {}

  [[nodiscard]] std::string id() const override {
    return std::filesystem::path(paths_.folder).filename().string();
  }
  Result<job::JobStatus> status() override;
  Result<std::unique_ptr<cluster::LogReader>> logs(const cluster::LogRequest& request) override;
  Result<job::ClusterSpec> cluster_spec(int generation, base::Instant deadline) override;
  Result<> stop(bool at_once, const std::string& by) override;
  Result<cluster::Answer> ask(const cluster::Question& question) override;
  Result<std::vector<cluster::TaskResult>> results() override {
    return on_this_machine_->results();
  }
  Result<> read_result(const job::TaskId& task, const cluster::ResultSink& sink) override {
    return on_this_machine_->read_result(task, sink);
  }
  Result<> wait_for_change(base::Instant deadline) override;

  // The status by its pods, as far as the record tells of them.
  Result<job::JobStatus> look();
  [[nodiscard]] job::JobStatus as_of_last(const std::string& trouble) const;

 private:
  Result<> read_again();
  Result<PodsWay*> way();

  const client::Context& context_;
  const host::JobPaths paths_;
  PodsRecord record_;
  const std::unique_ptr<cluster::Job> on_this_machine_;
  std::unique_ptr<PodsWay> way_;
};

Result<> DetachedJob::read_again() {
  GANGRUN_ASSIGN(auto record, record_of(paths_));
  if (!record) return base::not_found(base::format("there is no job {} any more", id()));
  record_ = *std::move(record);
  return {};
}

Result<PodsWay*> DetachedJob::way() {
  if (way_ == nullptr) {
    GANGRUN_ASSIGN(way_, way_to_pods(context_, paths_, record_));
  }
  return way_.get();
}

Result<job::JobStatus> DetachedJob::status() {
  GANGRUN_TRY(read_again());
  return look();
}

Result<job::JobStatus> DetachedJob::look() {
  if (record_.has_settled) return record_.last_seen;
  GANGRUN_ASSIGN(PodsWay* const way, this->way());
  GANGRUN_ASSIGN(const auto pods, pods_of(*way));
  const bool had_ended = job::is_final(record_.last_seen.state);
  job::JobStatus status = status_by(record_, *way->manifests, pods);
  status.submitted = record_.last_seen.submitted;
  status.folder = paths_.folder;
  const std::string place = pods::where_pods_work(*way->manifests);
  std::erase(status.notes, place);
  status.notes.push_back(place);
  set_moments(status, context_.clock.wall_now());
  const bool failed = !had_ended && status.state == job::JobState::kFailed;
  if (failed && status.cause && status.cause->task) add_last_lines(*way, *status.cause);
  record_.last_seen.elapsed_ms = status.elapsed_ms;
  if (record_.last_seen == status) return status;
  record_.last_seen = status;
  record_.has_settled = pods::has_settled(status);
  GANGRUN_TRY(write_pods_record(paths_, record_));
  return status;
}

job::JobStatus DetachedJob::as_of_last(const std::string& trouble) const {
  job::JobStatus status = record_.last_seen;
  set_moments(status, context_.clock.wall_now());
  status.notes.push_back(base::format("as last seen: {}", trouble));
  return status;
}

Result<std::unique_ptr<cluster::LogReader>> DetachedJob::logs(const cluster::LogRequest& request) {
  GANGRUN_TRY(read_again());
  GANGRUN_ASSIGN(auto way, way_to_pods(context_, paths_, record_));
  GANGRUN_ASSIGN(const auto pods, pods_of(*way));
  if (pods.empty()) {
    return base::Error{base::Code::kFailedPrecondition,
                       base::format("the pods of {} are gone, and their logs with them", id())};
  }
  return std::unique_ptr<cluster::LogReader>(
      std::make_unique<DetachedLogs>(std::move(way), request));
}

Result<job::ClusterSpec> DetachedJob::cluster_spec(int generation, base::Instant /*deadline*/) {
  GANGRUN_ASSIGN(const PodsWay* way, this->way());
  if (generation <= 1) return first_cluster_spec(*way->manifests);
  return base::deadline_exceeded("a detached job on Kubernetes has one generation only");
}

Result<> DetachedJob::stop(bool at_once, const std::string& by) {
  GANGRUN_ASSIGN(PodsWay* const way, this->way());
  // The job's state until now goes with its pods, so it is read first.
  GANGRUN_TRY(status());
  const bool had_ended = job::is_final(record_.last_seen.state);
  // Before anything ends: whoever looks then knows why.
  if (!had_ended) GANGRUN_TRY(write_stop(paths_, by));
  Result<> deleted = delete_all(*way, at_once);
  if (!deleted.ok() && !had_ended && record_.stopped_by.empty()) forget_stop(paths_);
  return deleted;
}

Result<cluster::Answer> DetachedJob::ask(const cluster::Question& question) {
  GANGRUN_ASSIGN(PodsWay* const way, this->way());
  return ask_pods(*way, record_.last_seen.tasks, question);
}

Result<> DetachedJob::wait_for_change(base::Instant deadline) {
  GANGRUN_ASSIGN(PodsWay* const way, this->way());
  (void)way->loop.run_until([] { return false; },
                            std::min(deadline, way->loop.now() + kPodsInterval));
  return {};
}

}  // namespace

Result<std::vector<cluster::ListedJob>> KubernetesSite::list() {
  GANGRUN_ASSIGN(auto jobs, others_->list());
  std::set<std::string> silent;  // servers
  for (cluster::ListedJob& listed : jobs) {
    job::JobStatus& status = listed.status;
    const host::JobPaths paths = host::paths_of(home_, status.id);
    auto record = record_of(paths);
    if (!record.ok() && listed.unreadable.empty()) listed.unreadable = record.error().message;
    if (!record.ok() || !*record || !listed.unreadable.empty()) continue;
    const std::string server = (*record)->server;
    DetachedJob job(context_, paths, **std::move(record), nullptr);
    auto looked = silent.contains(server)
                      ? Result<job::JobStatus>(base::unavailable(server + " does not answer"))
                      : job.look();
    if (!looked.ok()) silent.insert(server);
    status = looked.ok() ? *std::move(looked) : job.as_of_last(looked.error().message);
  }
  return jobs;
}

Result<std::unique_ptr<cluster::Job>> KubernetesSite::find(std::string_view name) {
  GANGRUN_ASSIGN(std::unique_ptr<cluster::Job> job, others_->find(name));
  const host::JobPaths paths = host::paths_of(home_, job->id());
  GANGRUN_ASSIGN(auto record, record_of(paths));
  if (!record) return job;
  return std::unique_ptr<cluster::Job>(
      std::make_unique<DetachedJob>(context_, paths, *std::move(record), std::move(job)));
}

}  // namespace gangrun::kubernetes::commands
