#include "process/foreign_process.h"

#include <cerrno>

#include "base/format.h"
#include "process/proc_fs.h"

namespace gangrun::process {

base::Result<ForeignProcess> ForeignProcess::open(pid_t pid, std::uint64_t start_ticks) {
  ProcessHandle handle = ProcessHandle::open(pid);
  if (!handle.valid() && errno != ESRCH && errno != ENOENT) {
    return base::from_errno(errno, base::format("cannot open process {}", pid));
  }
  // Read after the opening: from here on the number stays what it is for the handle.
  const auto stat = handle.valid() ? read_stat(pid) : std::nullopt;
  if (!stat || !stat->alive() || stat->start_ticks != start_ticks) {
    return base::not_found(base::format("process {} has ended", pid));
  }
  return ForeignProcess(pid, std::move(handle));
}

base::Result<> ForeignProcess::signal(int number) const {
  if (!handle_.signal(number)) {
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
