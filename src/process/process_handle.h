#pragma once

#include <sys/types.h>

#include <cstdint>
#include <utility>

#include "base/result.h"
#include "base/unique_fd.h"

namespace gangrun::process {

// A process, however its number is used later. Linux 5.3 has descriptors for that (pidfds). On
// older kernels a process is known by its number and its start, its end is found by looking at
// /proc every 10 ms, and a signal could reach another process only if that got the number within
// the microseconds between the look and the signal.
class ProcessHandle {
 public:
  ProcessHandle() = default;
  // Invalid where there is no such process, or one that has been reaped.
  static ProcessHandle open(pid_t pid);
  // The very process that began at `start_ticks`, as read_stat() gives them, and that need not be
  // our child. kNotFound where it has ended.
  static base::Result<ProcessHandle> open(pid_t pid, std::uint64_t start_ticks);
  // Takes a pidfd of the process.
  ProcessHandle(pid_t pid, base::UniqueFd pidfd)
      : pid_(pidfd.valid() ? pid : 0), end_(std::move(pidfd)) {}

  [[nodiscard]] bool valid() const { return pid_ != 0; }
  [[nodiscard]] pid_t pid() const { return pid_; }
  // Readable when the process has ended, whether or not it is reaped. On an older kernel -1 where
  // no thread can be made to look for that.
  [[nodiscard]] int end_fd() const { return end_.get(); }
  // False, with errno, where it could not be sent: ESRCH where the process has ended.
  [[nodiscard]] bool signal(int number) const;

 private:
  pid_t pid_ = 0;
  std::uint64_t start_ticks_ = 0;  // where there are no pidfds
  base::UniqueFd end_;
};

// Whether this kernel has all that a ProcessHandle takes of it.
bool has_pidfds();

// For kernels without pidfds: a descriptor that is readable soon after
// the process with this number and start has ended. A thread of ours looks at all of them, every 10
// ms, or less often where a look takes long; it runs as long as there are any. Closing the
// descriptor is enough to have its process forgotten. Invalid, with errno, where there is no room
// for a pipe or a thread.
base::UniqueFd poll_for_end(pid_t pid, std::uint64_t start_ticks);

}  // namespace gangrun::process
