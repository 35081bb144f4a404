#include "yarn/trial_job.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <utility>

#include "base/format.h"
#include "base/pause.h"
#include "base/strings.h"
#include "hadoop/resource_manager.h"
#include "hadoop/web_hdfs.h"
#include "job/described.h"
#include "yarn/cluster_checks.h"
#include "yarn/job_access.h"
#include "yarn/submitter.h"
#include "yarn/task_container.h"
#include "yarn/yarn_options.h"
#include "yarn/yarn_site.h"

namespace gangrun::yarn {

namespace {

using base::Result;

constexpr const char* kName = "container";
constexpr const char* kJobName = "gangrun-doctor";
constexpr const char* kTaskType = "node";
constexpr std::int64_t kMemoryMib = 256;
// TensorFlow, and a Java virtual machine in the same process.
constexpr std::int64_t kTensorflowMemoryMib = 2048;
// From the submission until the container runs.
constexpr std::chrono::minutes kContainerTimeout{3};
// The limits for the container itself, which bounds its own waits, and for all that is cleared away
// after it.
constexpr std::chrono::minutes kTrialTimeout{4};
constexpr std::chrono::seconds kEndTimeout{30};
// Between two looks.
constexpr std::chrono::milliseconds kLook{200};

class Run {
 public:
  Run(const hadoop::Configuration& configuration, const hadoop::FileSystem& file_system,
      const hadoop::Account& account, const base::Clock& clock, const TrialJob& job)
      : configuration_(configuration),
        file_system_(file_system),
        account_(account),
        clock_(clock),
        job_(job),
        site_(configuration, file_system, account, clock) {}

  std::vector<cluster::Check> run();

 private:
  Result<> submit();
  // Until the job has ended; why it was ended by us, where it was.
  void follow();
  void read_lines();
  void take(const std::string& line);
  [[nodiscard]] std::optional<std::string> reason_to_stop(const job::JobStatus& status) const;
  void stop(const std::string& reason);
  void look_for_kept_lines();
  Result<> wait_for_yarn(base::Instant deadline);
  Result<> clear_away();
  [[nodiscard]] cluster::Check verdict() const;

  const hadoop::Configuration& configuration_;
  const hadoop::FileSystem& file_system_;
  const hadoop::Account& account_;
  const base::Clock& clock_;
  const TrialJob& job_;
  YarnSite site_;
  std::unique_ptr<YarnJob> asked_;  // null: not submitted yet
  hadoop::ApplicationId id_;
  std::string text_;  // of the id
  base::Instant submitted_;
  std::optional<base::Instant> ran_;  // seen for the first time that the container runs
  std::unique_ptr<cluster::LogReader> reader_;
  job::JobStatus status_;
  std::optional<std::string> stopped_;
  std::vector<cluster::Check> found_;
  bool is_complete_ = false;
};

Result<> Run::submit() {
  YarnSubmitter submitter(configuration_, file_system_, account_, clock_, "", {});
  job::JobSpec spec = trial_spec(job_);
  edit_yarn(spec).container_runtime = container_runtime_of(spec, configuration_);
  GANGRUN_TRY(submitter.check(spec));
  submitted_ = clock_.now();
  GANGRUN_ASSIGN(id_, submitter.submit({.spec = spec,
                                        .files = {},
                                        .agent_program = job_.agent_program,
                                        .submitted = clock_.wall_now()},
                                       [this](const hadoop::ApplicationId& id) {
                                         job_.submits(hadoop::to_string(id));
                                       }));
  text_ = hadoop::to_string(id_);
  GANGRUN_ASSIGN(asked_, site_.find_job(text_));
  return {};
}

void Run::take(const std::string& line) {
  if (line == kTrialEnd) is_complete_ = true;
  if (!line.starts_with(kTrialLine)) return;
  const auto json = base::parse_json(line.substr(kTrialLine.size()), kMaxNodeTrialBytes);
  if (!json.ok()) return;
  auto check = base::from_json<cluster::Check>(*json);
  if (check.ok()) found_.push_back(*std::move(check));
}

void Run::read_lines() {
  if (!reader_) {
    auto reader = asked_->logs({});
    if (!reader.ok()) return;
    reader_ = *std::move(reader);
  }
  auto lines = reader_->next(clock_.now() + kLook);
  if (!lines.ok()) return;
  for (const cluster::LogLine& line : *lines) take(line.text);
}

std::optional<std::string> Run::reason_to_stop(const job::JobStatus& status) const {
  if (job_.is_over && job_.is_over()) return "interrupted";
  const base::Instant now = clock_.now();
  if (!ran_ && now - submitted_ > kContainerTimeout) {
    return base::format("no container ran within {}; {}", base::to_words(kContainerTimeout),
                        status.waiting_for);
  }
  if (ran_ && now - *ran_ > kTrialTimeout) {
    return base::format("the container did not end within {}", base::to_words(kTrialTimeout));
  }
  return std::nullopt;
}

void Run::stop(const std::string& reason) {
  stopped_ = reason;
  (void)asked_->stop(true, reason);
}

void Run::follow() {
  std::optional<base::Instant> last;
  while (!last || clock_.now() < *last) {
    if (!is_complete_) read_lines();
    auto status = asked_->status();
    if (status.ok()) {
      status_ = *std::move(status);
      if (job::is_final(status_.state)) return;
      if (status_.state == job::JobState::kRunning && !ran_) ran_ = clock_.now();
    }
    if (!last) {
      if (const auto reason = reason_to_stop(status_)) {
        stop(*reason);
        last = clock_.now() + kEndTimeout;
      }
    }
    base::pause_for(kLook);
  }
}

// If it went too fast to be followed, the node has told YARN.
void Run::look_for_kept_lines() {
  const base::Instant deadline = clock_.now() + kEndTimeout;
  while (!is_complete_ && clock_.now() < deadline && !(job_.is_over && job_.is_over())) {
    reader_.reset();
    found_.clear();
    read_lines();
    if (!is_complete_) base::pause_for(kLook);
  }
}

// Its master says that the job has ended before it has put its status and journal away.
Result<> Run::wait_for_yarn(base::Instant deadline) {
  hadoop::ResourceManagerClient manager(configuration_, account_);
  while (true) {
    GANGRUN_ASSIGN(const auto report, manager.report(id_, deadline));
    if (hadoop::is_final(report.state)) return {};
    if (clock_.now() >= deadline) {
      return base::deadline_exceeded(base::format("YARN does not say that {} has ended", text_));
    }
    base::pause_for(kLook);
  }
}

// The job's status and journal: of interest to nobody.
Result<> Run::clear_away() {
  const base::Instant deadline = clock_.now() + kEndTimeout;
  GANGRUN_TRY(wait_for_yarn(deadline));
  hadoop::WebHdfs files(file_system_, hadoop::web_hdfs_options(account_));
  GANGRUN_ASSIGN(const std::string home, files.home_folder(deadline));
  const YarnPaths paths{home};
  for (const std::string& folder : {paths.history(id_), paths.staging(id_)}) {
    GANGRUN_TRY(files.remove(folder, true, deadline));
  }
  return {};
}

cluster::Check Run::verdict() const {
  if (stopped_) {
    if (*stopped_ == "interrupted") return {kName, cluster::Verdict::kNotChecked, *stopped_};
    return {kName, cluster::Verdict::kFailed, *stopped_,
            "check what queue and nodes have free, or choose another queue with --queue"};
  }
  if (!job::is_final(status_.state)) {
    return {kName, cluster::Verdict::kFailed, base::format("{} did not end", text_),
            base::format("end it: gangrun kill --now {}", text_)};
  }
  if (status_.state != job::JobState::kSucceeded) {
    std::string said =
        status_.cause ? job::to_words(*status_.cause) : std::string("no reason is known");
    if (status_.cause && !status_.cause->last_lines.empty()) {
      said += ": " + status_.cause->last_lines.back();
    }
    return {kName, cluster::Verdict::kFailed, base::format("{}: {}", text_, said),
            base::format("see yarn logs -applicationId {}", text_)};
  }
  const std::string address = status_.tasks.empty() ? std::string() : status_.tasks.front().address;
  const std::string host = address.substr(0, address.rfind(':'));
  return {kName, cluster::Verdict::kOk,
          base::format("{} ran{}{} and ended after {}", text_, host.empty() ? "" : " on ", host,
                       base::to_words(std::chrono::milliseconds(status_.elapsed_ms)))};
}

std::vector<cluster::Check> Run::run() {
  const auto submitted = submit();
  if (!submitted.ok()) {
    return {{kName, cluster::Verdict::kFailed, submitted.error().message,
             to_do_about_hdfs(submitted.error(), account_.user)}};
  }
  follow();
  const bool succeeded = status_.state == job::JobState::kSucceeded;
  if (succeeded && !is_complete_) look_for_kept_lines();
  std::vector<cluster::Check> checks{verdict()};
  if (succeeded && !is_complete_ && !stopped_) {
    checks.push_back({"HDFS from the node", cluster::Verdict::kNotChecked,
                      "the container's findings were not reported",
                      "see yarn logs -applicationId " + text_});
  }
  checks.insert(checks.end(), found_.begin(), found_.end());
  const auto cleared = job::is_final(status_.state) ? clear_away() : Result<>();
  if (!cleared.ok()) {
    checks.push_back({"clearing away", cluster::Verdict::kWarning, cleared.error().message,
                      base::format("remove ~/.gangrun/history/{} on HDFS", text_)});
  }
  return checks;
}

}  // namespace

job::JobSpec trial_spec(const TrialJob& job) {
  job::JobSpec spec;
  spec.name = kJobName;
  spec.on = kYarn;
  spec.success = "all";
  spec.frameworks.emplace();
  spec.environment = job.environment;
  spec.timeouts.allocation = kContainerTimeout;
  spec.timeouts.job = kContainerTimeout + kTrialTimeout;
  YarnOptions& own = edit_yarn(spec);
  own.queue = job.queue;
  own.max_attempts = 1;
  for (const TrialPlace& place : job.trial.places) {
    own.file_systems.push_back(hadoop::to_string(place.file_system));
  }
  job::TaskSpec task;
  task.type = kTaskType;
  task.resources.memory_mib = job.trial.python.empty() ? kMemoryMib : kTensorflowMemoryMib;
  if (job.largest_mib > 0) {
    task.resources.memory_mib = std::min(task.resources.memory_mib, job.largest_mib);
  }
  task.command.words = {base::format("./{}", kAgentLink), "try",
                        base::dump_json(base::to_json(job.trial))};
  spec.tasks.push_back(std::move(task));
  return spec;
}

std::vector<cluster::Check> run_trial_job(const hadoop::Configuration& configuration,
                                          const hadoop::FileSystem& file_system,
                                          const hadoop::Account& account, const base::Clock& clock,
                                          const TrialJob& job) {
  return Run(configuration, file_system, account, clock, job).run();
}

}  // namespace gangrun::yarn
