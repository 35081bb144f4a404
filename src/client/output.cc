#include "client/output.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/format.h"

namespace gangrun::client {

namespace {

// A pipe that is ready takes so much (POSIX) without waiting.
constexpr std::size_t kReadyBytes = 512;
constexpr std::size_t kWriteBytes = std::size_t{64} << 10U;

}  // namespace

Output::Output(int fd) : fd_(fd), is_terminal_(::isatty(fd) == 1) {
  struct stat info {};
  if (::fstat(fd, &info) != 0) return;
  is_file_ = S_ISREG(info.st_mode);
  // If it is not open for writing, write() says so; opened once more, it might take everything.
  if (is_file_ || (::fcntl(fd, F_GETFL) & O_ACCMODE) == O_RDONLY) return;
  if (S_ISFIFO(info.st_mode) || S_ISCHR(info.st_mode)) {
    // Not by a flag on the descriptor that we inherited: it is shared with our caller.
    own_.reset(::open(base::format("/proc/self/fd/{}", fd).c_str(),
                      O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  }
  can_block_ = !own_.valid();
}

bool Output::is_ready(int timeout_ms) const {
  pollfd waiting{.fd = fd(), .events = POLLOUT, .revents = 0};
  while (true) {
    const int ready = ::poll(&waiting, 1, timeout_ms);
    if (ready >= 0 || errno != EINTR) return ready > 0;
  }
}

void Output::flush() {
  while (open_ && queued() > 0) {
    if (can_block_ && !is_ready(0)) return;
    const std::size_t bytes = std::min(queued(), can_block_ ? kReadyBytes : kWriteBytes);
    const ssize_t count = ::write(fd(), queue_.data() + written_, bytes);
    if (count >= 0) {
      written_ += static_cast<std::size_t>(count);
    } else if (errno == EAGAIN) {
      return;
    } else if (errno != EINTR) {
      fail(errno);
    }
  }
  queue_.clear();
  written_ = 0;
}

void Output::write(std::string_view text) {
  if (!open_) return;
  if (written_ > kWriteBytes) {
    queue_.erase(0, written_);
    written_ = 0;
  }
  queue_ += text;
  flush();
}

void Output::drain(int timeout_ms) {
  flush();
  while (open_ && queued() > 0) {
    if (!is_ready(timeout_ms)) {
      error_ = base::deadline_exceeded("its reader takes nothing");
      return give_up();
    }
    flush();
  }
}

// Nobody reads: a closed pipe, or a lost terminal.
void Output::fail(int error_number) {
  const bool unread = error_number == EPIPE || (error_number == EIO && is_terminal_);
  if (!unread) error_ = base::from_errno(error_number, "cannot be written");
  give_up();
}

void Output::finish() {
  drain(kReaderTimeoutMs);
  if (!open_ || !is_file_) return;
  const int copy = ::fcntl(fd_, F_DUPFD_CLOEXEC, 0);
  if (copy >= 0 && ::close(copy) != 0 && errno != EINTR) fail(errno);
}

void Output::give_up() {
  open_ = false;
  queue_.clear();
  written_ = 0;
}

}  // namespace gangrun::client
