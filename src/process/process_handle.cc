#include "process/process_handle.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

#include "process/end_poller.h"
#include "process/proc_fs.h"

namespace gangrun::process {

namespace {

base::UniqueFd open_pidfd(pid_t pid) {
  return base::UniqueFd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0U)));
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

}  // namespace gangrun::process
