#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "base/clock.h"
#include "job/status.h"

namespace gangrun::client {

// `timeouts.allocation` of a job on a cluster as long as it never had a master, which would keep it
// for its tasks: then it is for those who wait for the job to keep.
class AllocationLimit {
 public:
  // Without a limit nothing is ever too late.
  AllocationLimit(std::optional<std::chrono::milliseconds> limit, base::Instant since)
      : limit_(limit), since_(since) {}

  // Why the job is to be ended; given once at most.
  std::optional<std::string> exceeded(const job::JobStatus& status, base::Instant now);
  // Whether nothing is to be kept here any more.
  [[nodiscard]] bool is_settled() const { return is_settled_; }

 private:
  const std::optional<std::chrono::milliseconds> limit_;
  const base::Instant since_;
  bool is_settled_ = false;  // there was a master, or the job has been given up
};

}  // namespace gangrun::client
