#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <filesystem>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/files.h"
#include "base/format.h"
#include "base/log.h"
#include "host/ending_signals.h"
#include "host/local_site.h"
#include "host/processes.h"
#include "journal/line_reader.h"
#include "journal/record.h"
#include "journal/segments.h"
#include "process/agent_processes.h"
#include "process/signals.h"
#include "process/spawn.h"
#include "process/wait_for.h"

namespace gangrun::host {

namespace {

// After so many masters in a row that could not take over, the next one has to wait a little: what
// is in its way (a full disk) may go. When no task lives any more there is nothing to wait for.
constexpr int kMaxFailures = 3;
constexpr std::chrono::seconds kPause(1);
constexpr int kMaxMasters = 5000;
// How often a new master's lock is looked for: taking it tells nobody.
constexpr std::chrono::milliseconds kLookInterval(5);
// The numbers under which a master finds its descriptors.
constexpr int kToldFd = 3;
constexpr int kLockFd = 4;

// Whether the newest master came so far as to record an event behind its segment's header.
bool has_taken_over(const JobPaths& paths) {
  const auto numbers = journal::segment_numbers(paths.journal());
  if (!numbers.ok() || numbers->empty()) return false;
  auto lines = journal::LineReader::open(journal::segment_path(paths.journal(), numbers->back()),
                                         journal::kMaxLineBytes);
  if (!lines.ok()) return false;
  for (int i = 0; i < 2; ++i) {
    const auto line = lines->next();
    if (!line.ok() || !*line) return false;
  }
  return true;
}

bool has_ended(const JobPaths& paths) {
  const auto status = stored_status(paths);
  return status.ok() && job::is_final(status->state);
}

base::Result<process::Child> start_master(const std::string& program, const std::string& folder,
                                          int told_fd, int lock_fd) {
  process::SpawnOptions options;
  options.argv = {program, "master", folder, std::to_string(told_fd < 0 ? -1 : kToldFd),
                  std::to_string(kLockFd)};
  if (told_fd >= 0) options.inherited.push_back({told_fd, kToldFd});
  options.inherited.push_back({lock_fd, kLockFd});
  options.environment = process::inherited_environment();
  options.standard_error = STDERR_FILENO;
  options.new_group = process::NewGroup::kSession;
  return process::spawn(options);
}

sigset_t passed_on() {
  sigset_t signals;
  ::sigemptyset(&signals);
  ::sigaddset(&signals, SIGCHLD);
  for (const int number : job_signals()) ::sigaddset(&signals, number);
  return signals;
}

// Signals to us are for the master, which knows what to do. They would kill one that has only
// just begun: they wait until the master has the job's lock, as that is when the master listens.
class PassedOn {
 public:
  explicit PassedOn(JobPaths paths) : paths_(std::move(paths)) {}

  // Waits for the master's end, which its job's own limits bound, and meanwhile for every orphan
  // that it left to us.
  bool wait_for(pid_t master, int& status) {
    while (true) {
      pid_t ended = 0;
      while ((ended = ::waitpid(-1, &status, WNOHANG)) > 0) {
        if (ended == master) return true;
      }
      if (ended < 0 && errno != EINTR) return false;
      if (!waiting_.empty() && has_master(paths_)) {
        for (const int number : waiting_) ::kill(master, number);
        waiting_.clear();
      }
      take_next();
    }
  }
  [[nodiscard]] bool has_end() const { return has_end_; }

 private:
  void take_next() {
    const sigset_t signals = passed_on();
    const timespec soon{.tv_sec = 0, .tv_nsec = std::chrono::nanoseconds(kLookInterval).count()};
    const int number = waiting_.empty() ? ::sigwaitinfo(&signals, nullptr)
                                        : ::sigtimedwait(&signals, nullptr, &soon);
    if (number <= 0 || number == SIGCHLD) return;
    has_end_ = has_end_ || !process::is_notice(number);
    waiting_.insert(number);
  }

  JobPaths paths_;
  std::set<int> waiting_;  // told, and not passed on yet
  bool has_end_ = false;   // somebody has asked for the job's end
};

}  // namespace

Supervised run_supervisor(const std::string& program, const base::Clock& clock,
                          const std::string& folder, int told_fd) {
  const auto logger = base::stderr_logger("gangrun supervisor", base::LogLevel::kInfo);
  const JobPaths paths{folder};
  const auto lock = lock_as_supervisor(paths);
  // Another command was faster.
  if (!lock.ok() && lock.error().code == base::Code::kUnavailable) return Supervised::kEnded;
  if (!lock.ok()) {
    logger->error("{}", lock.error().message);
    if (told_fd >= 0) {
      (void)base::write_all(told_fd, base::format("{}{}\n", kRefused, lock.error().message),
                            "the client");
    }
    return Supervised::kFailed;
  }
  if (told_fd >= 0) (void)base::write_all(told_fd, std::string(kSupervised) + "\n", "the client");
  // So that agents which a dead master leaves can be reaped.
  if (::prctl(PR_SET_CHILD_SUBREAPER, 1L, 0L, 0L, 0L) != 0) {
    logger->warning("{}", base::from_errno(errno, "cannot become a subreaper").message);
  }
  const sigset_t signals = passed_on();
  ::pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  PassedOn signals_for_master(paths);
  int failures = 0;
  for (int masters = 0; masters < kMaxMasters; ++masters) {
    const auto master = start_master(program, folder, told_fd, lock->get());
    int status = 0;
    if (!master.ok() || !signals_for_master.wait_for(master->pid(), status)) {
      logger->error("{}", master.ok() ? "the master cannot be waited for" : master.error().message);
      return Supervised::kFailed;
    }
    if ((WIFEXITED(status) && WEXITSTATUS(status) == 0) || has_ended(paths)) {
      return Supervised::kEnded;
    }
    failures = has_taken_over(paths) ? 0 : failures + 1;
    const bool has_begun =
        !journal::segment_numbers(paths.journal()).value_or(std::vector<int>()).empty();
    // The first one could not start the job, and has said why, or was not to start it.
    if (!has_begun && (!WIFSIGNALED(status) || signals_for_master.has_end())) {
      return Supervised::kCouldNotStart;
    }
    if (WIFSIGNALED(status)) {
      logger->warning("the master was killed by signal {}; a new one takes over", WTERMSIG(status));
    } else {
      logger->warning("the master failed; a new one takes over");
    }
    if (failures < kMaxFailures) continue;
    (void)process::wait_any_readable({}, clock.now() + kPause);
    if (process::agent_processes(std::filesystem::path(folder).filename().string()).empty()) break;
  }
  logger->error("masters keep failing; tasks that still run end when their lease expires");
  return Supervised::kFailed;
}

}  // namespace gangrun::host
