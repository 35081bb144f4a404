#include "process/open_files.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "base/format.h"

namespace gangrun::process {

namespace {

// A state of the process, as the limit itself is.
rlimit limit_before{};
bool was_raised = false;

}  // namespace

void raise_open_file_limit() {
  if (was_raised || ::getrlimit(RLIMIT_NOFILE, &limit_before) != 0) return;
  rlimit raised = limit_before;
  raised.rlim_cur = raised.rlim_max;
  was_raised = raised.rlim_cur != limit_before.rlim_cur && ::setrlimit(RLIMIT_NOFILE, &raised) == 0;
}

base::Result<> check_open_files(rlim_t needed) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return base::from_errno(errno, "getrlimit");
  if (limit.rlim_max >= needed) return {};
  return base::Error{
      base::Code::kFailedPrecondition,
      base::format("the job needs {} open files at once in its master; allowed here: {} (the "
                   "hard limit, which `ulimit -Hn` tells)",
                   needed, limit.rlim_max)};
}

const rlimit* open_file_limit_of_children() { return was_raised ? &limit_before : nullptr; }

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
