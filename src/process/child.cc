#include "process/child.h"

#include <poll.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <cerrno>
#include <csignal>

#include "base/format.h"
#include "process/wait_for.h"

namespace gangrun::process {

base::Result<std::optional<Exit>> Child::reap() {
  if (exit_) return exit_;
  int status = 0;
  rusage usage{};
  pid_t ended = 0;
  do {
    ended = ::wait4(pid_, &status, WNOHANG, &usage);
  } while (ended < 0 && errno == EINTR);
  if (ended < 0) return base::from_errno(errno, fmt::format("cannot wait for process {}", pid_));
  if (ended == pid_) exit_ = exit_from_wait(status, usage);
  return exit_;
}

base::Result<Exit> Child::wait(base::Instant deadline) {
  while (true) {
    GANGRUN_ASSIGN(const std::optional<Exit> ended, reap());
    if (ended) return *ended;
    if (!wait_readable(handle_.end_fd(), deadline)) {
      return base::deadline_exceeded(fmt::format("process {} has not ended in time", pid_));
    }
  }
}

base::Result<> Child::signal(int number) {
  if (exit_) {
    return base::Error{base::Code::kFailedPrecondition,
                       fmt::format("process {} has ended already", pid_)};
  }
  // Not reaped, so the number is still its own.
  if (::kill(pid_, number) != 0) {
    return base::from_errno(errno,
                            fmt::format("cannot send signal {} to process {}", number, pid_));
  }
  return {};
}

base::Result<> Child::signal_group(int number) {
  if (exit_) {
    return base::Error{base::Code::kFailedPrecondition,
                       fmt::format("process {} has ended already", pid_)};
  }
  if (::kill(-pid_, number) != 0) {
    return base::from_errno(errno,
                            fmt::format("cannot send signal {} to process group {}", number, pid_));
  }
  return {};
}

}  // namespace gangrun::process
