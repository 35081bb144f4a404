#include "client/allocation_limit.h"

#include "base/format.h"

namespace gangrun::client {

std::optional<std::string> AllocationLimit::exceeded(const job::JobStatus& status,
                                                     base::Instant now) {
  // The words of a master have a folder, those of the cluster have none.
  is_settled_ |= !status.folder.empty() || status.state != job::JobState::kAllocating;
  if (is_settled_ || !limit_ || now - since_ <= *limit_) return std::nullopt;
  is_settled_ = true;
  return base::format("the job's master did not start within {}; it waited for {}",
                      base::to_words(*limit_), status.waiting_for);
}

}  // namespace gangrun::client
