#pragma once

#include <sys/types.h>

#include <cstdint>

#include "base/result.h"
#include "process/process_handle.h"

namespace gangrun::process {

// A process that is not our child, held so that what is asked of it never reaches
// another one that got its number.
class ForeignProcess {
 public:
  // `start_ticks` as read_stat() gives them. kNotFound where that very process has ended.
  static base::Result<ForeignProcess> open(pid_t pid, std::uint64_t start_ticks);

  [[nodiscard]] pid_t pid() const { return pid_; }
  // Becomes readable when the process has ended. For the caller's loop.
  [[nodiscard]] int end_fd() const { return handle_.end_fd(); }
  // kNotFound once it has ended.
  base::Result<> signal(int number) const;

 private:
  ForeignProcess(pid_t pid, ProcessHandle handle) : pid_(pid), handle_(std::move(handle)) {}

  pid_t pid_;
  ProcessHandle handle_;
};

}  // namespace gangrun::process
