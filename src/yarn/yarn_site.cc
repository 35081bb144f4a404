#include "yarn/yarn_site.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/format.h"
#include "base/pause.h"
#include "base/strings.h"
#include "cluster/task_files.h"
#include "job/described.h"
#include "wire/messages.h"
#include "wire/rest_client.h"
#include "yarn/application_end.h"
#include "yarn/left_journal.h"
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

YarnSite::YarnSite(hadoop::Configuration configuration, hadoop::FileSystem file_system,
                   hadoop::Account account, const base::Clock& clock)
    : configuration_(std::move(configuration)),
      clock_(clock),
      account_(std::move(account)),
      resource_manager_(configuration_, account_),
      files_(std::move(file_system), hadoop::web_hdfs_options(account_)) {}

Result<YarnPaths> YarnSite::paths() {
  if (home_.empty()) {
    GANGRUN_ASSIGN(home_, files_.home_folder(soon()));
  }
  return YarnPaths{home_};
}

Result<hadoop::ApplicationId> YarnSite::find(std::string_view job) {
  if (job != "last") return hadoop::application_id_from(job);
  hadoop::ResourceManagerClient::Filter filter;
  filter.types = {kApplicationType};
  filter.own_only = true;
  GANGRUN_ASSIGN(const auto applications, resource_manager_.applications(filter, soon()));
  const auto newest =
      std::max_element(applications.begin(), applications.end(),
                       [](const auto& one, const auto& other) { return one.id < other.id; });
  if (newest == applications.end()) return base::not_found("the cluster has no job of yours");
  return newest->id;
}

Result<const JobAccess*> YarnSite::access(const hadoop::ApplicationReport& report) {
  const hadoop::ApplicationId& id = report.id;
  const auto known = access_.find(id);
  if (known != access_.end()) return &known->second;
  GANGRUN_ASSIGN(const YarnPaths paths, this->paths());
  const auto text = files_.read(paths.staging(id) + kAccessFile, kMaxJobAccessBytes, soon());
  if (!text.ok()) {
    const bool is_other_s =
        text.error().code == base::Code::kNotFound && report.user != account_.user;
    return is_other_s ? only_for(report) : text.error();
  }
  GANGRUN_ASSIGN(const base::Json json, base::parse_json(*text, kMaxJobAccessBytes));
  GANGRUN_ASSIGN(access_[id], base::from_json<JobAccess>(json));
  return &access_[id];
}

Result<std::vector<cluster::ListedJob>> YarnSite::list() {
  hadoop::ResourceManagerClient::Filter filter;
  filter.types = {kApplicationType};
  GANGRUN_ASSIGN(auto applications, resource_manager_.applications(filter, soon()));
  std::sort(applications.begin(), applications.end(),
            [](const auto& one, const auto& other) { return one.id > other.id; });
  std::vector<cluster::ListedJob> jobs;
  jobs.reserve(applications.size());
  int left = kMostJournals;
  for (const auto& report : applications) {
    // If a job's masters could not tell its end, only its journal has it; and YARN is not told what
    // a task that failed has said.
    const bool is_read = (has_lost_its_master(report) || has_failed(report)) &&
                         report.user == account_.user && left-- > 0;
    const base::Instant asked = clock_.now();
    Result<job::JobStatus> status = status_from(report, clock_.wall_now());
    if (is_read) {
      Result<job::JobStatus> known = ended_status(report);
      if (known.ok()) status = std::move(known);
    }
    jobs.push_back({*std::move(status)});
    if (clock_.now() - asked > kLongestRead) left = 0;
  }
  return jobs;
}

Result<job::JobStatus> YarnSite::status(std::string_view job) {
  GANGRUN_ASSIGN(const hadoop::ApplicationId id, find(job));
  GANGRUN_ASSIGN(const hadoop::ApplicationReport report, resource_manager_.report(id, soon()));
  if (hadoop::is_final(report.state)) return ended_status(report);
  const auto access = this->access(report);
  if (access.ok()) {
    if (const auto endpoint = endpoint_of(report, (*access)->fingerprint)) {
      auto status = wire::fetch_status(*endpoint, (*access)->secret, soon());
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
Result<job::JobStatus> YarnSite::ended_status(const hadoop::ApplicationReport& report) {
  job::JobStatus by_yarn = status_from(report, clock_.wall_now());
  const auto paths = this->paths();
  if (!paths.ok()) return by_yarn;
  const std::string path = paths->history(report.id) + kStatusFile;
  const auto text = files_.read(path, kMaxStatusBytes, soon());
  const auto json =
      text.ok() ? base::parse_json(*text, kMaxStatusBytes) : Result<base::Json>(text.error());
  if (json.ok()) return base::from_json<job::JobStatus>(*json);
  const bool is_missing = !text.ok() && text.error().code == base::Code::kNotFound;
  if (!is_missing || report.user != account_.user) return by_yarn;
  clear_away(report.id, *paths);
  auto left = read_left_journal(files_, paths->history(report.id) + kJournalFolder, clock_,
                                clock_.now() + kJournalTimeout);
  if (!left.ok()) {
    by_yarn.notes.push_back(base::format("its journal cannot be read: {}", left.error().message));
    return by_yarn;
  }
  return status_without_master(std::move(by_yarn), *std::move(left));
}

// A master that YARN has ended could not: its journal goes where that of others is, the rest away.
// For another user's job it fails, and for one that has been cleared away already.
void YarnSite::clear_away(const hadoop::ApplicationId& id, const YarnPaths& paths) {
  const std::string journal = paths.staging(id) + kJournalFolder;
  if (files_.status(journal, soon()).ok()) {
    const bool is_kept = files_.make_folders(paths.history(id), kOwnFolder, soon()).ok() &&
                         files_.rename(journal, paths.history(id) + kJournalFolder, soon()).ok();
    if (!is_kept) return;
  }
  // Most jobs have none.
  (void)files_.rename(paths.staging(id) + kResultsFolder, paths.history(id) + kResultsFolder,
                      soon());
  (void)files_.remove(paths.staging(id), true, soon());
}

Result<job::JobStatus> YarnSite::waiting_status(const hadoop::ApplicationReport& report) {
  job::JobStatus status = status_from(report, clock_.wall_now());
  int ahead = 0;
  if (report.state == hadoop::ApplicationState::kAccepted) {
    hadoop::ResourceManagerClient::Filter filter;
    filter.states = {hadoop::ApplicationState::kAccepted};
    const auto waiting = resource_manager_.applications(filter, soon());
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
    const auto queue = resource_manager_.queue(report.queue, soon());
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
std::string YarnSite::label_words_of(const job::JobSpec& spec) {
  const std::set<std::string> labels = labels_of(spec);
  if (labels.empty()) return {};
  if (!nodes_seen_ || clock_.now() - *nodes_seen_ > kLookAtLabels) {
    nodes_seen_ = clock_.now();
    auto nodes = resource_manager_.running_nodes(soon());
    nodes_ = nodes.ok() ? std::move(*nodes) : std::vector<hadoop::NodeReport>();
  }
  if (nodes_.empty()) return {};
  std::string words;
  for (const std::string& label : labels) words += "; " + label_words(label, nodes_);
  return words;
}

Result<std::unique_ptr<cluster::LogReader>> YarnSite::logs(std::string_view job,
                                                           const cluster::LogRequest& request) {
  GANGRUN_ASSIGN(const hadoop::ApplicationId id, find(job));
  GANGRUN_ASSIGN(const hadoop::ApplicationReport report, resource_manager_.report(id, soon()));
  if (hadoop::is_final(report.state)) {
    GANGRUN_TRY(wait_for_logs(report));
    return open_aggregated_logs(configuration_, files_, report, request, clock_);
  }
  GANGRUN_ASSIGN(const JobAccess* access, this->access(report));
  return open_live_logs(resource_manager_, report.id, *access, request, clock_);
}

// Each node hands in the logs of its containers by itself: what is there before all have is a part.
Result<> YarnSite::wait_for_logs(hadoop::ApplicationReport report) {
  const base::Instant deadline = clock_.now() + kHandInTimeout;
  while (awaits_logs(report, clock_.wall_now()) && clock_.now() < deadline) {
    base::pause_for(kLookAtLogs);
    GANGRUN_ASSIGN(report, resource_manager_.report(report.id, soon()));
  }
  return {};
}

Result<> YarnSite::check_is_own(std::string_view job) {
  GANGRUN_ASSIGN(const hadoop::ApplicationId id, find(job));
  GANGRUN_ASSIGN(const hadoop::ApplicationReport report, resource_manager_.report(id, soon()));
  const auto access = this->access(report);
  const bool is_refused = !access.ok() && access.error().code == base::Code::kPermissionDenied;
  return is_refused ? Result<>(access.error()) : Result<>();
}

Result<YarnSite::Master> YarnSite::master_of(std::string_view job) {
  GANGRUN_ASSIGN(const hadoop::ApplicationId id, find(job));
  GANGRUN_ASSIGN(const hadoop::ApplicationReport report, resource_manager_.report(id, soon()));
  GANGRUN_ASSIGN(const JobAccess* access, this->access(report));
  const auto endpoint = endpoint_of(report, access->fingerprint);
  if (!endpoint) {
    return base::unavailable(base::format("{} has no master now", hadoop::to_string(id)));
  }
  return Master{*endpoint, access->secret};
}

Result<job::ClusterSpec> YarnSite::cluster_spec(std::string_view job, int generation,
                                                base::Instant deadline) {
  GANGRUN_ASSIGN(const Master master, master_of(job));
  return wire::fetch_cluster_spec(master.endpoint, master.secret, generation, deadline);
}

Result<> YarnSite::stop(std::string_view job, bool at_once, const std::string& by) {
  GANGRUN_ASSIGN(const hadoop::ApplicationId id, find(job));
  GANGRUN_ASSIGN(const hadoop::ApplicationReport report, resource_manager_.report(id, soon()));
  if (hadoop::is_final(report.state)) {
    return base::Error{base::Code::kFailedPrecondition,
                       base::format("{} has ended already", hadoop::to_string(id))};
  }
  const auto access = this->access(report);
  if (access.ok()) {
    if (const auto endpoint = endpoint_of(report, (*access)->fingerprint)) {
      auto asked = wire::request_stop(*endpoint, (*access)->secret, at_once, by, soon());
      if (asked.ok()) return asked;
    }
  }
  // Nobody is there to end it in order: YARN ends it.
  const base::Instant deadline = soon();
  while (true) {
    GANGRUN_ASSIGN(const bool ended, resource_manager_.kill(id, by, deadline));
    if (ended) return {};
    if (clock_.now() > deadline) {
      return base::deadline_exceeded(
          base::format("YARN has not ended {} yet", hadoop::to_string(id)));
    }
    GANGRUN_TRY(wait_for_change(job, deadline));
  }
}

Result<cluster::Answer> YarnSite::ask(std::string_view job, const cluster::Question& question) {
  GANGRUN_ASSIGN(const Master master, master_of(job));
  return wire::ask(master.endpoint, master.secret, question, soon() + question.limit);
}

// With the job's other files while it runs, then in its history; a job may end between two looks.
Result<std::string> YarnSite::results_folder(const hadoop::ApplicationId& id) {
  GANGRUN_ASSIGN(const YarnPaths paths, this->paths());
  for (const std::string& parent : {paths.staging(id), paths.history(id)}) {
    const auto found = files_.status(parent + kResultsFolder, soon());
    if (found.ok()) return parent + kResultsFolder;
    if (found.error().code != base::Code::kNotFound) return found.error();
  }
  return std::string();
}

Result<std::vector<cluster::TaskResult>> YarnSite::results(std::string_view job) {
  GANGRUN_ASSIGN(const hadoop::ApplicationId id, find(job));
  std::vector<cluster::TaskResult> results;
  std::vector<hadoop::FileStatus> files;
  std::string looked;
  // The folder moves once, at the end of the job, perhaps just after it was found.
  while (true) {
    GANGRUN_ASSIGN(const std::string folder, results_folder(id));
    if (folder.empty() || folder == looked) return results;
    looked = folder;
    auto listed = files_.list(folder, soon());
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

Result<> YarnSite::read_result(std::string_view job, const job::TaskId& task,
                               const cluster::ResultSink& sink) {
  GANGRUN_ASSIGN(const hadoop::ApplicationId id, find(job));
  std::string looked;
  // As above: what is not there has perhaps just moved to the other place.
  while (true) {
    GANGRUN_ASSIGN(const std::string folder, results_folder(id));
    if (folder.empty() || folder == looked) return cluster::no_result(task);
    looked = folder;
    auto read = files_.read_to(base::format("{}/{}", folder, cluster::result_name(task)),
                               wire::kMaxResultBytes, sink, clock_.now() + kResultTimeout);
    if (read.ok() || read.error().code != base::Code::kNotFound) return read;
  }
}

Result<> YarnSite::wait_for_change(std::string_view, base::Instant deadline) {
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - clock_.now());
  const auto pause = std::clamp(left, std::chrono::milliseconds(0), kLookAtYarn);
  base::pause_for(pause);
  return {};
}

Result<> YarnSite::wait_for_cluster(std::string_view job, base::Instant deadline) {
  GANGRUN_ASSIGN(const hadoop::ApplicationId id, find(job));
  while (clock_.now() < deadline) {
    GANGRUN_ASSIGN(const hadoop::ApplicationReport report, resource_manager_.report(id, soon()));
    if (hadoop::is_final(report.state)) return {};
    GANGRUN_TRY(wait_for_change(job, deadline));
  }
  return {};
}

}  // namespace gangrun::yarn
