#pragma once

#include <sys/types.h>

#include <cstdint>

#include "base/result.h"
#include "base/unique_fd.h"

namespace gangrun::process {

// A process that is not our child, held by a pidfd, so that what is asked of it never reaches
// another one that got its number.
class ForeignProcess {
 public:
  // `start_ticks` as read_stat() gives them. kNotFound where that very process has ended. Needs
  // Linux 5.3 or newer.
  static base::Result<ForeignProcess> open(pid_t pid, std::uint64_t start_ticks);

  [[nodiscard]] pid_t pid() const { return pid_; }
  // Becomes readable when the process has ended. For the caller's loop.
  [[nodiscard]] int pidfd() const { return pidfd_.get(); }
  // kNotFound once it has ended.
  base::Result<> signal(int number) const;

 private:
  ForeignProcess(pid_t pid, base::UniqueFd pidfd) : pid_(pid), pidfd_(std::move(pidfd)) {}

  pid_t pid_;
  base::UniqueFd pidfd_;
};

}  // namespace gangrun::process
