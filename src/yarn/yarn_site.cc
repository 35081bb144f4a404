#include "yarn/yarn_site.h"

#include <algorithm>
#include <set>

#include "base/format.h"
#include "base/pause.h"
#include "base/strings.h"
#include "cluster/task_files.h"
#include "job/described.h"
#include "wire/messages.h"
#include "wire/rest_client.h"
#include "yarn/ends.h"
#include "yarn/journal_copy.h"
#include "yarn/waiting.h"
#include "yarn/yarn_logs.h"

namespace gangrun::yarn {

namespace {

using base::Result;

// How a master's words begin while agents are to report, also before a restart.
constexpr std::string_view kReports = "the report of ";
constexpr std::size_t kMaxStatusBytes = std::size_t{64} << 20U;
constexpr std::chrono::minutes kResultTimeout{5};
constexpr std::chrono::seconds kJournalTimeout{60};
// The free resources of the nodes of a label change slowly, and are many nodes' answer.
constexpr std::chrono::seconds kLookAtLabels{2};
// A node that died is given up by YARN after ten minutes only: until then the others' logs are
// available.
constexpr std::chrono::seconds kHandInTimeout{30};
constexpr std::chrono::milliseconds kLookAtLogs{250};

// A list reads the journals of so many jobs at most, the newest first: each takes a moment.
constexpr int kMostJournals = 10;
// Nor is a file system that takes so long for one asked for others.
constexpr std::chrono::seconds kLongestRead{1};

bool has_failed(const hadoop::ApplicationReport& report) {
  return report.state == hadoop::ApplicationState::kFinished &&
         report.final_status == hadoop::FinalStatus::kFailed;
}

std::string time_text(std::int64_t milliseconds) {
  if (milliseconds <= 0) return {};
  return base::to_iso8601(base::WallTime(std::chrono::milliseconds(milliseconds)));
}

job::JobStatus status_from(const hadoop::ApplicationReport& report, base::WallTime now) {
  job::JobStatus status;
  status.id = hadoop::to_string(report.id);
  status.name = report.name;
  status.state = state_of(report);
  status.submitted = time_text(report.start_time);
  status.ended = time_text(report.finish_time);
  const std::int64_t now_ms =
      std::chrono::duration_cast<std::chrono::milliseconds>(now.time_since_epoch()).count();
  // As status_without_master() has it where it cannot read a journal.
  if (has_lost_its_master(report)) status.state = job::JobState::kLost;
  const std::int64_t end = report.finish_time > 0 ? report.finish_time : now_ms;
  status.elapsed_ms = std::max<std::int64_t>(end - report.start_time, 0);
  if (job::is_final(status.state) && status.state != job::JobState::kSucceeded) {
    status.cause = application_end(report);
  }
  return status;
}

base::Error only_for(const hadoop::ApplicationReport& report) {
  return base::Error{base::Code::kPermissionDenied,
                     base::format("{} is a job of {}, to whom alone its master answers",
                                  hadoop::to_string(report.id), report.user)};
}

}  // namespace

job::JobState state_of(const hadoop::ApplicationReport& report) {
  using State = hadoop::ApplicationState;
  switch (report.state) {
    case State::kFinished:
      switch (report.final_status) {
        case hadoop::FinalStatus::kSucceeded: return job::JobState::kSucceeded;
        case hadoop::FinalStatus::kKilled: return job::JobState::kKilled;
        default: return job::JobState::kFailed;
      }
    case State::kFailed: return job::JobState::kFailed;
    case State::kKilled: return job::JobState::kKilled;
    case State::kRunning: return job::JobState::kRunning;
    default: return job::JobState::kAllocating;
  }
}

std::optional<net::Endpoint> endpoint_of(const hadoop::ApplicationReport& report,
                                         const std::string& fingerprint) {
  const bool is_there = report.state == hadoop::ApplicationState::kRunning &&
                        !report.host.empty() && report.host != "N/A" && report.rpc_port > 0 &&
                        report.rpc_port <= UINT16_MAX;
  if (!is_there) return std::nullopt;
  return net::Endpoint::on_tls(report.host, static_cast<std::uint16_t>(report.rpc_port),
                               fingerprint);
}

ClusterClients::ClusterClients(hadoop::Configuration of_cluster, hadoop::FileSystem file_system,
                               hadoop::Account of_user, const base::Clock& time)
    : configuration(std::move(of_cluster)),
      clock(time),
      account(std::move(of_user)),
      resource_manager(configuration, account),
      files(std::move(file_system), hadoop::web_hdfs_options(account)) {}

Result<YarnPaths> ClusterClients::paths() {
  if (home_.empty()) {
    GANGRUN_ASSIGN(home_, files.home_folder(soon()));
  }
  return YarnPaths{home_};
}

Result<hadoop::ApplicationReport> YarnJob::report() {
  return cluster_->resource_manager.report(id_, cluster_->soon());
}

Result<const JobAccess*> YarnJob::access(const hadoop::ApplicationReport& report) {
  if (access_) return &*access_;
  GANGRUN_ASSIGN(const YarnPaths paths, cluster_->paths());
  const auto text =
      cluster_->files.read(paths.staging(id_) + kAccessFile, kMaxJobAccessBytes, cluster_->soon());
  if (!text.ok()) {
    const bool is_other_s =
        text.error().code == base::Code::kNotFound && report.user != cluster_->account.user;
    return is_other_s ? only_for(report) : text.error();
  }
  GANGRUN_ASSIGN(const base::Json json, base::parse_json(*text, kMaxJobAccessBytes));
  GANGRUN_ASSIGN(access_, base::from_json<JobAccess>(json));
  return &*access_;
}

Result<job::JobStatus> YarnJob::status() {
  GANGRUN_ASSIGN(const hadoop::ApplicationReport report, this->report());
  if (hadoop::is_final(report.state)) return ended_status(report);
  const auto access = this->access(report);
  if (access.ok()) {
    if (const auto endpoint = endpoint_of(report, (*access)->fingerprint)) {
      auto status = wire::fetch_status(*endpoint, (*access)->secret, cluster_->soon());
      if (status.ok() && status->state == job::JobState::kAllocating &&
          !status->waiting_for.empty()) {
        status->waiting_for += label_words_of((*access)->spec);
      }
      if (status.ok() && (status->state == job::JobState::kRollCall ||
                          status->waiting_for.starts_with(kReports))) {
        const std::string words = unpacking_words((*access)->spec);
        // Unless the master has heard from the nodes.
        const bool is_known = status->waiting_for.find("fetch and unpack") != std::string::npos;
        if (!words.empty() && !is_known) status->waiting_for += "; " + words;
      }
      // A master that is just going, or coming back, is YARN's to tell of.
      if (status.ok()) return status;
    }
  }
  return waiting_status(report);
}

// As the master left it; where it could not, as YARN and its journal have it.
Result<job::JobStatus> YarnJob::ended_status(const hadoop::ApplicationReport& report) {
  job::JobStatus by_yarn = status_from(report, cluster_->clock.wall_now());
  const auto paths = cluster_->paths();
  if (!paths.ok()) return by_yarn;
  const std::string path = paths->history(report.id) + kStatusFile;
  const auto text = cluster_->files.read(path, kMaxStatusBytes, cluster_->soon());
  const auto json =
      text.ok() ? base::parse_json(*text, kMaxStatusBytes) : Result<base::Json>(text.error());
  if (json.ok()) return base::from_json<job::JobStatus>(*json);
  const bool is_missing = !text.ok() && text.error().code == base::Code::kNotFound;
  if (!is_missing || report.user != cluster_->account.user) return by_yarn;
  clear_away(*paths);
  auto left = read_left_journal(cluster_->files, paths->history(report.id) + kJournalFolder,
                                cluster_->clock, cluster_->clock.now() + kJournalTimeout);
  if (!left.ok()) {
    by_yarn.notes.push_back(base::format("its journal cannot be read: {}", left.error().message));
    return by_yarn;
  }
  return status_without_master(std::move(by_yarn), *std::move(left));
}

// A master that YARN has ended could not: its journal goes where that of others is, the rest away.
// For another user's job it fails, and for one that has been cleared away already.
void YarnJob::clear_away(const YarnPaths& paths) {
  const std::string journal = paths.staging(id_) + kJournalFolder;
  if (cluster_->files.status(journal, cluster_->soon()).ok()) {
    const bool is_kept =
        cluster_->files.make_folders(paths.history(id_), kOwnFolder, cluster_->soon()).ok() &&
        cluster_->files.rename(journal, paths.history(id_) + kJournalFolder, cluster_->soon()).ok();
    if (!is_kept) return;
  }
  // Most jobs have none.
  (void)cluster_->files.rename(paths.staging(id_) + kResultsFolder,
                               paths.history(id_) + kResultsFolder, cluster_->soon());
  (void)cluster_->files.remove(paths.staging(id_), true, cluster_->soon());
}

Result<job::JobStatus> YarnJob::waiting_status(const hadoop::ApplicationReport& report) {
  job::JobStatus status = status_from(report, cluster_->clock.wall_now());
  int ahead = 0;
  if (report.state == hadoop::ApplicationState::kAccepted) {
    hadoop::ResourceManagerClient::Filter filter;
    filter.states = {hadoop::ApplicationState::kAccepted};
    const auto waiting = cluster_->resource_manager.applications(filter, cluster_->soon());
    if (waiting.ok()) {
      ahead =
          static_cast<int>(std::count_if(waiting->begin(), waiting->end(), [&](const auto& one) {
            return one.queue == report.queue && one.id < report.id;
          }));
    }
  }
  status.waiting_for = waiting_words(report, ahead);
  const auto access = this->access(report);
  if (!access.ok()) {
    const bool is_other_s = access.error().code == base::Code::kPermissionDenied;
    if (is_other_s && status.state == job::JobState::kRunning) {
      status.waiting_for = access.error().message;
    }
    return status;
  }
  const job::JobSpec& spec = (*access)->spec;
  if (status.state == job::JobState::kAllocating) {
    status.waiting_for += base::format("; it will ask for {}", asked_words(spec));
    const auto queue = cluster_->resource_manager.queue(report.queue, cluster_->soon());
    if (queue.ok()) status.waiting_for += "; " + queue_words(*queue);
    status.waiting_for += label_words_of(spec);
  }
  status.restarts_max = spec.restarts.max;
  for (const job::TaskId& task : spec.task_ids()) {
    job::TaskStatus waiting;
    waiting.task = task;
    waiting.policy = job::effective_policy(spec, *spec.find(task.type));
    status.tasks.push_back(std::move(waiting));
  }
  return status;
}

// YARN tells the master what its queue has left, but not what the nodes of a label have.
std::string YarnJob::label_words_of(const job::JobSpec& spec) {
  const std::set<std::string> labels = labels_of(spec);
  if (labels.empty()) return {};
  if (!nodes_seen_ || cluster_->clock.now() - *nodes_seen_ > kLookAtLabels) {
    nodes_seen_ = cluster_->clock.now();
    auto nodes = cluster_->resource_manager.running_nodes(cluster_->soon());
    nodes_ = nodes.ok() ? std::move(*nodes) : std::vector<hadoop::NodeReport>();
  }
  if (nodes_.empty()) return {};
  std::string words;
  for (const std::string& label : labels) words += "; " + label_words(label, nodes_);
  return words;
}

Result<std::unique_ptr<cluster::LogReader>> YarnJob::logs(const cluster::LogRequest& request) {
  GANGRUN_ASSIGN(const hadoop::ApplicationReport report, this->report());
  if (hadoop::is_final(report.state)) {
    GANGRUN_TRY(wait_for_logs(report));
    return open_aggregated_logs(cluster_->configuration, cluster_->files, report, request,
                                cluster_->clock);
  }
  GANGRUN_ASSIGN(const JobAccess* access, this->access(report));
  return open_live_logs(cluster_->resource_manager, id_, *access, request, cluster_->clock);
}

// Each node hands in the logs of its containers by itself: what is there before all have is a part.
Result<> YarnJob::wait_for_logs(hadoop::ApplicationReport report) {
  const base::Instant deadline = cluster_->clock.now() + kHandInTimeout;
  while (awaits_logs(report, cluster_->clock.wall_now()) && cluster_->clock.now() < deadline) {
    base::pause_for(kLookAtLogs);
    GANGRUN_ASSIGN(report, this->report());
  }
  return {};
}

Result<> YarnJob::check_is_own() {
  GANGRUN_ASSIGN(const hadoop::ApplicationReport report, this->report());
  const auto access = this->access(report);
  const bool is_refused = !access.ok() && access.error().code == base::Code::kPermissionDenied;
  return is_refused ? Result<>(access.error()) : Result<>();
}

Result<YarnJob::Master> YarnJob::master() {
  GANGRUN_ASSIGN(const hadoop::ApplicationReport report, this->report());
  GANGRUN_ASSIGN(const JobAccess* access, this->access(report));
  const auto endpoint = endpoint_of(report, access->fingerprint);
  if (!endpoint) {
    return base::unavailable(base::format("{} has no master now", id()));
  }
  return Master{*endpoint, access->secret};
}

Result<job::ClusterSpec> YarnJob::cluster_spec(int generation, base::Instant deadline) {
  GANGRUN_ASSIGN(const Master master, master());
  return wire::fetch_cluster_spec(master.endpoint, master.secret, generation, deadline);
}

Result<> YarnJob::stop(bool at_once, const std::string& by) {
  GANGRUN_ASSIGN(const hadoop::ApplicationReport report, this->report());
  if (hadoop::is_final(report.state)) {
    return base::Error{base::Code::kFailedPrecondition, base::format("{} has ended already", id())};
  }
  const auto access = this->access(report);
  if (access.ok()) {
    if (const auto endpoint = endpoint_of(report, (*access)->fingerprint)) {
      auto asked = wire::request_stop(*endpoint, (*access)->secret, at_once, by, cluster_->soon());
      if (asked.ok()) return asked;
    }
  }
  // Nobody is there to end it in order: YARN ends it.
  const base::Instant deadline = cluster_->soon();
  while (true) {
    GANGRUN_ASSIGN(const bool ended, cluster_->resource_manager.kill(id_, by, deadline));
    if (ended) return {};
    if (cluster_->clock.now() > deadline) {
      return base::deadline_exceeded(base::format("YARN has not ended {} yet", id()));
    }
    GANGRUN_TRY(wait_for_change(deadline));
  }
}

Result<cluster::Answer> YarnJob::ask(const cluster::Question& question) {
  GANGRUN_ASSIGN(const Master master, master());
  return wire::ask(master.endpoint, master.secret, question, cluster_->soon() + question.limit);
}

// With the job's other files while it runs, then in its history; a job may end between two looks.
Result<std::string> YarnJob::results_folder() {
  GANGRUN_ASSIGN(const YarnPaths paths, cluster_->paths());
  for (const std::string& parent : {paths.staging(id_), paths.history(id_)}) {
    const auto found = cluster_->files.status(parent + kResultsFolder, cluster_->soon());
    if (found.ok()) return parent + kResultsFolder;
    if (found.error().code != base::Code::kNotFound) return found.error();
  }
  return std::string();
}

Result<std::vector<cluster::TaskResult>> YarnJob::results() {
  std::vector<cluster::TaskResult> results;
  std::vector<hadoop::FileStatus> files;
  std::string looked;
  // The folder moves once, at the end of the job, perhaps just after it was found.
  while (true) {
    GANGRUN_ASSIGN(const std::string folder, results_folder());
    if (folder.empty() || folder == looked) return results;
    looked = folder;
    auto listed = cluster_->files.list(folder, cluster_->soon());
    if (!listed.ok() && listed.error().code == base::Code::kNotFound) continue;
    if (!listed.ok()) return std::move(listed).error();
    files = *std::move(listed);
    break;
  }
  for (const hadoop::FileStatus& file : files) {
    const auto task = cluster::task_of_result(file.name);
    if (task) results.push_back({*task, static_cast<std::int64_t>(file.length)});
  }
  std::ranges::sort(results, {}, &cluster::TaskResult::task);
  return results;
}

Result<> YarnJob::read_result(const job::TaskId& task, const cluster::ResultSink& sink) {
  std::string looked;
  // As above: what is not there has perhaps just moved to the other place.
  while (true) {
    GANGRUN_ASSIGN(const std::string folder, results_folder());
    if (folder.empty() || folder == looked) return cluster::no_result(task);
    looked = folder;
    auto read = cluster_->files.read_to(base::format("{}/{}", folder, cluster::result_name(task)),
                                        wire::kMaxResultBytes, sink,
                                        cluster_->clock.now() + kResultTimeout);
    if (read.ok() || read.error().code != base::Code::kNotFound) return read;
  }
}

Result<> YarnJob::wait_for_change(base::Instant deadline) {
  const auto left =
      std::chrono::duration_cast<std::chrono::milliseconds>(deadline - cluster_->clock.now());
  const auto pause = std::clamp(left, std::chrono::milliseconds(0), kLookAtYarn);
  base::pause_for(pause);
  return {};
}

Result<> YarnJob::wait_for_cluster(base::Instant deadline) {
  while (cluster_->clock.now() < deadline) {
    GANGRUN_ASSIGN(const hadoop::ApplicationReport report, this->report());
    if (hadoop::is_final(report.state)) return {};
    GANGRUN_TRY(wait_for_change(deadline));
  }
  return {};
}

YarnSite::YarnSite(hadoop::Configuration configuration, hadoop::FileSystem file_system,
                   hadoop::Account account, const base::Clock& clock)
    : cluster_(std::make_shared<ClusterClients>(std::move(configuration), std::move(file_system),
                                                std::move(account), clock)) {}

Result<std::vector<cluster::ListedJob>> YarnSite::list() {
  hadoop::ResourceManagerClient::Filter filter;
  filter.types = {kApplicationType};
  GANGRUN_ASSIGN(auto applications,
                 cluster_->resource_manager.applications(filter, cluster_->soon()));
  std::sort(applications.begin(), applications.end(),
            [](const auto& one, const auto& other) { return one.id > other.id; });
  std::vector<cluster::ListedJob> jobs;
  jobs.reserve(applications.size());
  int left = kMostJournals;
  for (const auto& report : applications) {
    // If a job's masters could not tell its end, only its journal has it; and YARN is not told what
    // a task that failed has said.
    const bool is_read = (has_lost_its_master(report) || has_failed(report)) &&
                         report.user == cluster_->account.user && left-- > 0;
    const base::Instant asked = cluster_->clock.now();
    Result<job::JobStatus> status = status_from(report, cluster_->clock.wall_now());
    if (is_read) {
      Result<job::JobStatus> known = YarnJob(report.id, cluster_).ended_status(report);
      if (known.ok()) status = std::move(known);
    }
    jobs.push_back({*std::move(status)});
    if (cluster_->clock.now() - asked > kLongestRead) left = 0;
  }
  return jobs;
}

Result<std::unique_ptr<YarnJob>> YarnSite::find_job(std::string_view name) {
  if (name != "last") {
    GANGRUN_ASSIGN(const hadoop::ApplicationId id, hadoop::application_id_from(name));
    return std::make_unique<YarnJob>(id, cluster_);
  }
  hadoop::ResourceManagerClient::Filter filter;
  filter.types = {kApplicationType};
  filter.own_only = true;
  GANGRUN_ASSIGN(const auto applications,
                 cluster_->resource_manager.applications(filter, cluster_->soon()));
  const auto newest = std::ranges::max_element(applications, {}, &hadoop::ApplicationReport::id);
  if (newest == applications.end()) return base::not_found("the cluster has no job of yours");
  return std::make_unique<YarnJob>(newest->id, cluster_);
}

Result<std::unique_ptr<cluster::Job>> YarnSite::find(std::string_view name) {
  GANGRUN_ASSIGN(std::unique_ptr<cluster::Job> found, find_job(name));
  return found;
}

}  // namespace gangrun::yarn
