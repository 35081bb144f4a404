#include "process/child.h"

#include <poll.h>
#include <sys/wait.h>

#include <cerrno>
#include <chrono>
#include <csignal>

#include "base/format.h"
#include "process/wait_for.h"

namespace gangrun::process {

namespace {

// One that holds another process, as a debugger does, lets it go meanwhile.
constexpr std::chrono::milliseconds kGrace(100);

}  // namespace

base::Result<std::optional<Exit>> Child::reap() {
  if (exit_) return exit_;
  int status = 0;
  pid_t ended = 0;
  do {
    ended = ::waitpid(pid_, &status, WNOHANG);
  } while (ended < 0 && errno == EINTR);
  if (ended < 0) return base::from_errno(errno, fmt::format("cannot wait for process {}", pid_));
  if (ended == pid_) exit_ = exit_from_wait(status);
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

void Child::end_group(base::Duration limit) {
  (void)signal_group(SIGTERM);
  (void)wait_readable(handle_.end_fd(), std::chrono::steady_clock::now() + kGrace);
  (void)signal_group(SIGKILL);
  (void)wait(std::chrono::steady_clock::now() + limit);
}

base::Result<> Child::send(int number, pid_t target, std::string_view what) {
  if (exit_) {
    return base::Error{base::Code::kFailedPrecondition,
                       fmt::format("process {} has ended already", pid_)};
  }
  // Not reaped, so the number is still its own.
  if (::kill(target, number) == 0) return {};
  return base::from_errno(errno, fmt::format("cannot send signal {} to {} {}", number, what, pid_));
}

}  // namespace gangrun::process
