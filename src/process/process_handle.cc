#include "process/process_handle.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <memory>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "base/format.h"
#include "process/proc_fs.h"
#include "process/wait_for.h"

namespace gangrun::process {

namespace {

base::UniqueFd open_pidfd(pid_t pid) {
  return base::UniqueFd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0U)));
}

constexpr std::chrono::milliseconds kPause{10};
// So many times longer than a look at all of them is the pause after it.
constexpr int kIdleShare = 10;

struct Awaited {
  pid_t pid = 0;
  std::uint64_t start_ticks = 0;
  base::UniqueFd told;  // closed at the end
};

bool has_ended(const Awaited& process) {
  const auto stat = read_stat(process.pid);
  return !stat || stat->start_ticks != process.start_ticks ||
         (!stat->alive() && stat->threads <= 1);
}

bool is_forgotten(const Awaited& process) {
  pollfd other_end{.fd = process.told.get(), .events = 0, .revents = 0};
  return ::poll(&other_end, 1, 0) > 0;
}

class EndPoller {
 public:
  [[nodiscard]] pid_t owner() const { return owner_; }

  bool add(Awaited process) {
    const std::lock_guard lock(mutex_);
    if (!runs_ && !start()) return false;
    awaited_.push_back(std::move(process));
    (void)::eventfd_write(added_.get(), 1);
    return true;
  }

  // A thread that still waits goes with a process that exits.
  void join_if_done() {
    const std::lock_guard lock(mutex_);
    if (!runs_ && thread_.joinable()) thread_.join();
  }

 private:
  bool start() {
    // Signals are for the threads that expect them.
    sigset_t all;
    sigset_t before;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before);
    try {
      if (thread_.joinable()) thread_.join();
      thread_ = std::thread([this] { run(); });
      runs_ = true;
    } catch (const std::system_error& failure) {
      errno = failure.code().value();
    }
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    return runs_;
  }

  void run() {
    while (true) {
      const base::Instant began = std::chrono::steady_clock::now();
      if (!look()) return;
      const base::Duration took = std::chrono::steady_clock::now() - began;
      const base::Duration pause = std::max<base::Duration>(kPause, kIdleShare * took);
      (void)wait_readable(added_.get(), began + took + pause);
      eventfd_t count = 0;
      (void)::eventfd_read(added_.get(), &count);
    }
  }

  // False: nobody waits any more.
  bool look() {
    const std::lock_guard lock(mutex_);
    std::erase_if(awaited_, [](const Awaited& process) {
      const bool ended = has_ended(process);
      // A fork of ours may have the pipe open too, so closing it is not enough.
      if (ended) (void)!::write(process.told.get(), "", 1);
      return ended || is_forgotten(process);
    });
    runs_ = !awaited_.empty();
    return runs_;
  }

  const pid_t owner_ = ::getpid();
  std::mutex mutex_;
  // An eventfd. Its thread waits by poll(), as the C library of such a system has no condition
  // variables with a steady clock for C++.
  const base::UniqueFd added_{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
  std::thread thread_;
  bool runs_ = false;
  std::vector<Awaited> awaited_;
};

// This process's own: a fork has no threads but the one that forked. Never destroyed, for its
// thread may outlive main().
std::atomic<EndPoller*> current_poller = nullptr;

void leave_poller() {
  EndPoller* const found = current_poller.load();
  if (found != nullptr && found->owner() == ::getpid()) found->join_if_done();
}

EndPoller& poller() {
  EndPoller* found = current_poller.load();
  if (found != nullptr && found->owner() == ::getpid()) return *found;
  auto fresh = std::make_unique<EndPoller>();
  if (!current_poller.compare_exchange_strong(found, fresh.get())) return *found;
  (void)std::atexit(leave_poller);
  return *fresh.release();
}

}  // namespace

// The youngest of the three calls, so whoever has it has all: pidfd_send_signal() is of 5.1,
// CLONE_PIDFD of 5.2. Some containers refuse what they do not know with EPERM.
bool has_pidfds() {
  static const bool kHas = open_pidfd(::getpid()).valid();
  return kHas;
}

ProcessHandle ProcessHandle::open(pid_t pid) {
  if (has_pidfds()) return {pid, open_pidfd(pid)};
  const auto stat = read_stat(pid);
  if (!stat) return {};
  ProcessHandle handle;
  handle.pid_ = pid;
  handle.start_ticks_ = stat->start_ticks;
  handle.end_ = poll_for_end(pid, stat->start_ticks);
  return handle;
}

base::Result<ProcessHandle> ProcessHandle::open(pid_t pid, std::uint64_t start_ticks) {
  ProcessHandle handle = open(pid);
  if (!handle.valid() && errno != ESRCH && errno != ENOENT) {
    return base::from_errno(errno, base::format("cannot open process {}", pid));
  }
  // Read after the opening: from here on the number stays what it is for the handle.
  const auto stat = handle.valid() ? read_stat(pid) : std::nullopt;
  if (!stat || !stat->alive() || stat->start_ticks != start_ticks) {
    return base::not_found(base::format("process {} has ended", pid));
  }
  return handle;
}

bool ProcessHandle::signal(int number) const {
  if (has_pidfds()) {
    return ::syscall(SYS_pidfd_send_signal, end_.get(), number, nullptr, 0U) == 0;
  }
  const auto stat = read_stat(pid_);
  if (!stat || stat->start_ticks != start_ticks_) {
    errno = ESRCH;
    return false;
  }
  return ::kill(pid_, number) == 0;
}

base::UniqueFd poll_for_end(pid_t pid, std::uint64_t start_ticks) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return {};
  base::UniqueFd mine(ends[0]);
  if (!poller().add({pid, start_ticks, base::UniqueFd(ends[1])})) return {};
  return mine;
}

}  // namespace gangrun::process
