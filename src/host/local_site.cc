#include "host/local_site.h"

#include <fcntl.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <ctime>
#include <filesystem>

#include "base/files.h"
#include "base/format.h"
#include "base/json.h"
#include "base/strings.h"
#include "base/unique_fd.h"
#include "cluster/task_files.h"
#include "host/local_logs.h"
#include "host/silent_master.h"
#include "job/last_words.h"
#include "jobfile/plan_json.h"
#include "journal/reader.h"
#include "journal/segments.h"
#include "journal/settled.h"
#include "net/client.h"
#include "process/agent_processes.h"
#include "process/wait_for.h"
#include "wire/rest_client.h"

namespace gangrun::host {

namespace {

using base::Result;

// The most files of a job that are read; all that they tell is a time.
constexpr std::size_t kMaxLooked = 10'000;
constexpr std::size_t kPieceBytes = std::size_t{1} << 20U;
constexpr std::size_t kMaxStoredSpecBytes = std::size_t{64} << 20U;
// If the kernel does not tell of changes, the caller looks again so often.
constexpr base::milliseconds kBlindInterval(200);
// How often a new master is looked for: it tells nobody of its lock.
constexpr base::milliseconds kLookInterval(5);
// So long a question waits for the next master.
constexpr base::seconds kMasterChange{10};

std::string id_of(const JobPaths& paths) {
  return std::filesystem::path(paths.folder).filename().string();
}

// Whether its master can: only a detached job that has not ended keeps how that is started.
bool can_come_back(const JobPaths& paths) { return ::access(paths.launch().c_str(), F_OK) == 0; }

// Files that only a job that lives needs, and that a master which was killed has left.
void remove_leftovers(const JobPaths& paths) {
  const std::string left[] = {paths.socket(), paths.launch(), paths.environment(),
                              paths.zookeeper(), paths.keys()};
  const bool some = std::any_of(std::begin(left), std::end(left), [](const std::string& path) {
    return ::access(path.c_str(), F_OK) == 0;
  });
  // One that is only late still needs it.
  if (!some || has_supervisor(paths)) return;
  (void)::unlink(paths.socket().c_str());
  clear_ended_job(paths);
}

std::string log_prefix(const JobPaths& paths, const job::TaskId& task) {
  return base::format("{}/{}-{}", paths.logs(), task.type, task.index);
}

// Whoever was to start it was killed before.
job::JobStatus never_started(job::JobStatus status) {
  status.state = job::JobState::kFailed;
  status.cause = job::Cause{
      .why = {.reason = job::Reason::kCouldNotStart},
      .told = "the job was never started: the command that submitted it was killed before"};
  for (job::TaskStatus& task : status.tasks) task.state = job::TaskState::kStopped;
  return status;
}

// A master records before it starts anything: without a record, nothing of the job has run.
bool has_begun(const JobPaths& paths) {
  const auto segments = journal::segment_numbers(paths.journal());
  return segments.ok() ? !segments->empty() : ::access(paths.journal().c_str(), F_OK) == 0;
}

// Whether a task of the job has run, as its log says.
bool has_logs(const JobPaths& paths) {
  std::error_code failed;
  return std::filesystem::directory_iterator(paths.logs(), failed) !=
         std::filesystem::directory_iterator();
}

// The entry of a job of which not even that can be read.
cluster::ListedJob unreadable_job(const JobPaths& paths, const base::Error& error) {
  cluster::ListedJob job;
  job.status.id = id_of(paths);
  job.status.submitted = submitted_of(job.status.id);
  job.status.folder = paths.folder;
  job.unreadable = error.message;
  return job;
}

// A folder that another process is just making, or has just removed; or whose maker was killed
// before it had even written what the job is.
bool is_being_made(const JobPaths& paths) {
  // A file that cannot be read is not missing.
  const auto is_missing = [](const std::string& path) {
    return ::access(path.c_str(), F_OK) != 0 && errno == ENOENT;
  };
  if (!is_missing(paths.spec())) return false;
  return is_missing(paths.lock()) || has_master(paths) || !has_begun(paths);
}

// As the agent's last words have it, which had nobody to tell it.
std::optional<job::RunEnd> left_run(const JobPaths& paths, const job::TaskId& task, int attempt) {
  const auto text =
      base::read_file(job::words_file(log_prefix(paths, task), attempt), job::kMaxWordsBytes);
  return text.ok() ? job::last_words_from(*text).run : std::nullopt;
}

// When one of the folder's files was written last.
std::optional<base::WallTime> last_written(const std::string& folder) {
  std::optional<base::WallTime> last;
  std::error_code failed;
  std::filesystem::directory_iterator entry(folder, failed);
  const std::filesystem::directory_iterator end;
  for (std::size_t i = 0; i < kMaxLooked && !failed && entry != end; ++i) {
    struct stat info {};
    if (::lstat(entry->path().c_str(), &info) == 0 && S_ISREG(info.st_mode)) {
      const base::WallTime written(std::chrono::duration_cast<base::WallTime::duration>(
          std::chrono::seconds(info.st_mtim.tv_sec) +
          std::chrono::nanoseconds(info.st_mtim.tv_nsec)));
      if (!last || written > *last) last = written;
    }
    entry.increment(failed);
  }
  return last;
}

std::string with_time(std::string_view words, std::optional<base::WallTime> time) {
  return time ? base::format("{}{}", words, base::to_iso8601(*time)) : std::string();
}

// A job without a master has lived at least as long as it has written, whatever its record says.
void lengthen(const JobPaths& paths, base::WallTime now, job::JobStatus& status) {
  const auto written = std::max(last_written(paths.journal()), last_written(paths.logs()));
  const auto submitted = base::parse_iso8601(status.submitted);
  if (!written || !submitted.ok() || *written > now) return;
  const auto lived = std::chrono::duration_cast<std::chrono::milliseconds>(*written - *submitted);
  if (lived.count() <= status.elapsed_ms) return;
  status.elapsed_ms = lived.count();
  if (!status.ended.empty()) status.ended = base::to_iso8601(*written);
}

// The status of a job before its master has written one: it is made of the spec.
Result<job::JobStatus> status_from_spec(const JobPaths& paths) {
  GANGRUN_ASSIGN(const job::JobSpec spec, stored_spec(paths));
  job::JobStatus status;
  status.id = id_of(paths);
  status.name = spec.name;
  status.restarts_max = spec.restarts.max;
  status.folder = paths.folder;
  struct stat info {};
  if (::stat(paths.spec().c_str(), &info) == 0) {
    status.submitted = base::to_iso8601(std::chrono::system_clock::from_time_t(info.st_mtime));
  }
  for (const job::TaskId& id : spec.task_ids()) {
    job::TaskStatus task;
    task.task = id;
    task.policy = job::effective_policy(spec, *spec.find(id.type));
    task.log_path = log_prefix(paths, id);
    status.tasks.push_back(std::move(task));
  }
  return status;
}

}  // namespace

Result<job::JobSpec> stored_spec(const JobPaths& paths, const jobfile::SectionList& sections) {
  const auto text = base::read_file(paths.spec(), kMaxStoredSpecBytes);
  if (!text.ok()) return as_damage(text.error());
  const auto json = base::parse_json(*text, kMaxStoredSpecBytes);
  if (!json.ok()) return as_damage(json.error().context(paths.spec()));
  auto spec = jobfile::job_spec_from_json(*json, sections);
  if (!spec.ok()) return as_damage(spec.error().context(paths.spec()));
  return spec;
}

job::JobStatus without_master(job::JobStatus last) {
  if (job::is_final(last.state)) return last;
  last.state = job::JobState::kLost;
  last.waiting_for.clear();
  last.cause = job::Cause{.why = {.reason = job::Reason::kMasterLost}};
  for (job::TaskStatus& task : last.tasks) {
    if (!job::is_final(task.state)) task.state = job::TaskState::kLost;
    task.pid = 0;
    task.memory_bytes = 0;
  }
  return last;
}

Result<job::JobStatus> stored_status(const JobPaths& paths) {
  GANGRUN_ASSIGN(job::JobStatus status, status_from_spec(paths));
  auto last = journal::last_status(paths.journal());
  if (!last.ok() && last.error().code != base::Code::kNotFound) return as_damage(last.error());
  if (last.ok() && *last) return **last;
  // A master that was killed at once has left no journal; what has run had one.
  if (!has_logs(paths)) return status;
  return base::Error{base::Code::kDataLoss,
                     base::format("{}: the job's journal is gone or empty, though there are logs "
                                  "of its tasks in {}",
                                  paths.journal(), paths.logs())};
}

std::string LocalJob::id() const { return id_of(paths_); }

// Only a master learns whether tasks elsewhere live.
bool LocalJob::may_have_tasks() const {
  if (!process::agent_processes(id()).empty()) return true;
  if (!has_begun(paths_)) return false;
  const auto spec = stored_spec(paths_);
  if (!spec.ok() || access_.are_beside_us(*spec)) return false;
  const auto last = stored_status(paths_);
  return last.ok() && !job::is_final(last->state);
}

// The master of a detached job may die and come back: by its supervisor, or, where that is gone too
// while tasks still live, by us.
bool LocalJob::has_master_again(base::Instant deadline) {
  while (true) {
    // In this order: a master takes its lock before it lets go of its supervisor's.
    const bool supervised = has_supervisor(paths_);
    if (has_master(paths_)) return true;
    if (!can_come_back(paths_)) return false;
    if (!supervised) return may_have_tasks() && access_.revive(paths_, deadline).ok();
    if (access_.clock.now() >= deadline) return false;
    (void)process::wait_any_readable({}, std::min(deadline, access_.clock.now() + kLookInterval));
  }
}

// The socket of one that has just begun may not be there yet, and nobody may listen at it.
bool LocalJob::comes_back(const base::Error& error, base::Instant deadline) {
  const bool is_not_there =
      ::access(paths_.socket().c_str(), F_OK) != 0 || error.code == base::Code::kUnavailable;
  if (!is_not_there || access_.clock.now() >= deadline || !has_master_again(deadline)) return false;
  (void)process::wait_any_readable({}, access_.clock.now() + kLookInterval);
  return true;
}

// The supervisor starts the next master, and has not: it may be stopped, or the machine is busy.
// The job's tasks may live.
base::Error LocalJob::silent_supervisor(base::Duration limit) const {
  return base::unavailable(
      base::format("the supervisor of {} starts no master within {}", id(), base::to_words(limit)));
}

Result<job::JobStatus> LocalJob::status_within(base::Duration limit) {
  if (::access(paths_.folder.c_str(), F_OK) != 0 && errno == ENOENT) {
    return base::not_found(base::format("there is no job {} any more", id()));
  }
  const base::Instant deadline = access_.clock.now() + limit;
  // A job that had begun before had a master. One that begins only now has it in a moment.
  bool had_begun = has_begun(paths_);
  // Asked before the journal is read: what a master wrote before it went is all there.
  while (has_master_again(deadline)) {
    GANGRUN_ASSIGN(const base::Secret secret, read_secret(paths_));
    auto answer = wire::fetch_status(net::Endpoint::on_unix(paths_.socket()), secret, deadline);
    if (answer.ok()) return answer;
    const base::Code code = answer.error().code;
    const bool is_there = ::access(paths_.socket().c_str(), F_OK) == 0;
    if (code == base::Code::kDeadlineExceeded && is_there) {
      return base::unavailable(
          base::format("the master of {} does not answer within {}", id(), base::to_words(limit)));
    }
    if (is_there && code != base::Code::kUnavailable && code != base::Code::kNotFound)
      return answer;
    // Nobody listens: it has just begun, or has ended since we looked.
    if (!has_supervisor(paths_) && !has_master(paths_)) {
      had_begun = has_begun(paths_);
      continue;
    }
    GANGRUN_ASSIGN(job::JobStatus last, stored_status(paths_));
    if (!had_begun || job::is_final(last.state)) return last;
    // One that takes over reads the journal first. The last status in there may be old.
    const base::Instant next = access_.clock.now() + kLookInterval;
    if (next >= deadline) {
      last.notes.push_back(
          base::format("its master has not answered within {}; this is the last "
                       "status that one has recorded",
                       base::to_words(limit)));
      return last;
    }
    (void)process::wait_any_readable({}, next);
  }
  GANGRUN_ASSIGN(job::JobStatus last, stored_status(paths_));
  if (!can_come_back(paths_) || !may_have_tasks()) remove_leftovers(paths_);
  if (job::is_final(last.state)) return last;
  if (can_come_back(paths_) && has_supervisor(paths_)) return silent_supervisor(limit);
  if (!had_begun) return never_started(std::move(last));
  const base::WallTime now = access_.clock.wall_now();
  auto settled = journal::settled(
      paths_.journal(), std::move(last), access_.clock.now(), now,
      [this](const job::TaskId& task, int attempt) { return left_run(paths_, task, attempt); });
  if (!settled.ok()) return as_damage(settled.error());
  lengthen(paths_, now, *settled);
  return without_master(*std::move(settled));
}

std::optional<job::JobStatus> LocalJob::recorded_status() {
  auto status = stored_status(paths_);
  if (!status.ok()) return std::nullopt;
  status->notes.push_back(
      base::format("its master does not answer; this is the last status that it has recorded{}",
                   with_time(", at ", last_written(paths_.journal()))));
  return *std::move(status);
}

Result<std::unique_ptr<cluster::LogReader>> LocalJob::logs(const cluster::LogRequest& request) {
  auto answer = status_within(kNextAnswerTimeout);
  if (!answer.ok() && answer.error().code == base::Code::kUnavailable) {
    if (auto recorded = recorded_status()) answer = *std::move(recorded);
  }
  GANGRUN_ASSIGN(const job::JobStatus found, std::move(answer));
  GANGRUN_ASSIGN(auto logs, LocalLogs::open(paths_.logs(), found.tasks, request));
  return std::unique_ptr<cluster::LogReader>(std::move(logs));
}

Result<job::ClusterSpec> LocalJob::cluster_spec(int generation, base::Instant deadline) {
  GANGRUN_ASSIGN(const base::Secret secret, read_secret(paths_));
  return wire::fetch_cluster_spec(net::Endpoint::on_unix(paths_.socket()), secret, generation,
                                  deadline);
}

Result<cluster::Answer> LocalJob::ask(const cluster::Question& question) {
  GANGRUN_ASSIGN(const base::Secret secret, read_secret(paths_));
  return ask_master(kMasterChange, [&] {
    return wire::ask(net::Endpoint::on_unix(paths_.socket()), secret, question,
                     access_.clock.now() + kAnswerTimeout + question.limit);
  });
}

Result<> LocalJob::stop(bool at_once, const std::string& by) {
  if (!has_master_again(access_.clock.now() + kAnswerTimeout)) {
    // Nobody can tell that of a job that cannot be read.
    GANGRUN_TRY(stored_spec(paths_));
    if (can_come_back(paths_) && has_supervisor(paths_)) return silent_supervisor(kAnswerTimeout);
    return base::Error{base::Code::kFailedPrecondition, base::format("{} has ended already", id())};
  }
  GANGRUN_ASSIGN(const base::Secret secret, read_secret(paths_));
  const base::Instant limit = access_.clock.now() + kAnswerTimeout;
  auto asked = ask_master(kAnswerTimeout, [&] {
    return wire::request_stop(net::Endpoint::on_unix(paths_.socket()), secret, at_once, by, limit);
  });
  if (!asked.ok() && asked.error().code == base::Code::kDeadlineExceeded) {
    return base::unavailable(
        base::format("the master of {} does not answer within {}; it stops the job if it goes on",
                     id(), base::to_words(kAnswerTimeout)));
  }
  return std::move(asked).context(base::format("cannot reach the master of {}", id()));
}

// How many agents there still are at `deadline`, of a job whose master has gone.
std::size_t LocalJob::agents_left(base::Instant deadline) const {
  while (true) {
    const std::size_t left = process::agent_processes(id()).size();
    if (left == 0 || access_.clock.now() >= deadline) return left;
    (void)process::wait_any_readable({}, access_.clock.now() + kBlindInterval);
  }
}

// Agents see the end of their master, and another one of a detached job finds them.
Result<std::optional<std::string>> LocalJob::stop_without_answer(const std::string& by) {
  const auto master = listening_master(paths_);
  if (!master.ok()) return std::nullopt;
  GANGRUN_ASSIGN(const job::JobSpec spec, stored_spec(paths_));
  if (!access_.are_beside_us(spec)) {
    return base::unavailable(base::format(
        "the master of {} (process {}) does not answer, and nobody else can end its tasks, which "
        "are not on this machine: let it go on (kill -CONT {}) or end it (kill -KILL {}), and "
        "repeat this command",
        id(), master->pid(), master->pid(), master->pid()));
  }
  GANGRUN_TRY(kill_master(*master, access_.clock.now() + kAnswerTimeout));
  const std::string killed = base::format(
      "the master of {} (process {}) did not answer within {} "
      "and was killed",
      id(), master->pid(), base::to_words(kAnswerTimeout));
  if (can_come_back(paths_)) {
    const auto told = stop(true, by);
    // It had recorded an end before.
    const bool has_ended = !told.ok() && told.error().code == base::Code::kFailedPrecondition;
    if (!told.ok() && !has_ended) return told.error().context(killed);
    return killed + (has_ended ? "; the job has ended" : "; the next one ends the job");
  }
  const std::size_t left = agents_left(access_.clock.now() + kAnswerTimeout);
  if (left == 0) return killed + "; its tasks have ended with it";
  return base::unavailable(base::format(
      "{}; {} still {}, and end within the job's timeouts.master_lost", killed,
      base::count_text(static_cast<std::int64_t>(left), "agent"), left == 1 ? "runs" : "run"));
}

Result<std::vector<cluster::TaskResult>> LocalJob::results() {
  std::vector<cluster::TaskResult> results;
  std::error_code failed;
  for (const auto& file : std::filesystem::directory_iterator(paths_.results(), failed)) {
    const auto task = cluster::task_of_result(file.path().filename().string());
    const std::uintmax_t size = file.file_size(failed);
    if (task && !failed) results.push_back({*task, static_cast<std::int64_t>(size)});
  }
  std::ranges::sort(results, {}, &cluster::TaskResult::task);
  return results;
}

Result<> LocalJob::read_result(const job::TaskId& task, const cluster::ResultSink& sink) {
  const std::string path = base::format("{}/{}", paths_.results(), cluster::result_name(task));
  const auto file = base::open_file(path, O_RDONLY);
  if (!file.ok() && file.error().code == base::Code::kNotFound) return cluster::no_result(task);
  if (!file.ok()) return file.error();
  std::string piece(kPieceBytes, '\0');
  while (true) {
    const ssize_t count = ::read(file->get(), piece.data(), piece.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return base::from_errno(errno, base::format("read {}", path));
    if (count == 0) return {};
    GANGRUN_TRY(sink(std::string_view(piece).substr(0, static_cast<std::size_t>(count))));
  }
}

Result<> LocalJob::wait_for_change(base::Instant deadline) {
  const base::UniqueFd notify(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC));
  // The end of a process closes its files, so the lock file tells of a master's death.
  const bool told =
      notify.valid() &&
      ::inotify_add_watch(notify.get(), paths_.lock().c_str(), IN_CLOSE_WRITE) >= 0 &&
      ::inotify_add_watch(notify.get(), paths_.journal().c_str(), IN_MODIFY | IN_CREATE) >= 0;
  if (!has_master(paths_)) return {};
  if (told) {
    (void)process::wait_readable(notify.get(), deadline);
  } else {
    (void)process::wait_any_readable({}, std::min(deadline, access_.clock.now() + kBlindInterval));
  }
  return {};
}

Result<std::vector<cluster::ListedJob>> LocalSite::list() {
  GANGRUN_ASSIGN(const auto ids, job_ids(home_));
  std::vector<cluster::ListedJob> jobs;
  base::Duration limit = kAnswerTimeout;
  for (const std::string& id : ids) {
    const JobPaths paths = paths_of(home_, id);
    auto status = LocalJob(paths, access_).status_within(limit);
    std::string silence;
    if (!status.ok() && status.error().code == base::Code::kUnavailable) {
      limit = kNextAnswerTimeout;
      // Its master's record is true of it, too.
      const std::string trouble = status.error().message;
      status = stored_status(paths);
      const std::string since = with_time("; as of ", last_written(paths.journal()));
      if (status.ok()) status->notes.push_back(trouble + since);
      if (status.ok() && !job::is_final(status->state)) {
        silence = "its master does not answer" + since;
      }
    }
    if (status.ok()) {
      jobs.push_back({.status = *std::move(status), .silence = std::move(silence)});
    } else if (!is_being_made(paths)) {
      jobs.push_back(unreadable_job(paths, status.error()));
    }
  }
  return jobs;
}

Result<std::unique_ptr<cluster::Job>> LocalSite::find(std::string_view name) {
  GANGRUN_ASSIGN(const auto ids, job_ids(home_));
  GANGRUN_ASSIGN(const std::string id, resolve_job(ids, name));
  return std::unique_ptr<cluster::Job>(std::make_unique<LocalJob>(paths_of(home_, id), access_));
}

}  // namespace gangrun::host
