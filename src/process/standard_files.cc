#include "process/standard_files.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

namespace gangrun::process {

base::Result<> open_standard_files() {
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(fd, F_GETFD) >= 0 || errno != EBADF) continue;
    // The lowest that is free, which is this one. What we start has it as well.
    // NOLINTNEXTLINE(android-cloexec-open)
    const int opened = ::open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
    if (opened < 0) return base::from_errno(errno, "open /dev/null");
  }
  return {};
}

}  // namespace gangrun::process
