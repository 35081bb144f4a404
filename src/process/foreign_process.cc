#include "process/foreign_process.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "base/format.h"
#include "process/proc_fs.h"

namespace gangrun::process {

base::Result<ForeignProcess> ForeignProcess::open(pid_t pid, std::uint64_t start_ticks) {
  base::UniqueFd pidfd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  if (!pidfd.valid() && errno != ESRCH) {
    return base::from_errno(errno, base::format("cannot open process {}", pid));
  }
  // Read after the opening: from here on the number stays what it is for the pidfd.
  const auto stat = pidfd.valid() ? read_stat(pid) : std::nullopt;
  if (!stat || !stat->alive() || stat->start_ticks != start_ticks) {
    return base::not_found(base::format("process {} has ended", pid));
  }
  return ForeignProcess(pid, std::move(pidfd));
}

base::Result<> ForeignProcess::signal(int number) const {
  if (::syscall(SYS_pidfd_send_signal, pidfd_.get(), number, nullptr, 0) != 0) {
    const int error_number = errno;
    if (error_number == ESRCH) {
      return base::not_found(base::format("process {} has ended", pid_));
    }
    return base::from_errno(error_number,
                            base::format("cannot send signal {} to process {}", number, pid_));
  }
  return {};
}

}  // namespace gangrun::process
