#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "base/clock.h"
#include "base/json.h"

namespace gangrun::kubernetes::pods {

// Until when the Job that owns everything is to live: it counts from its start by the API server's
// clock, which may differ from ours. What a write answers tells the time there, to the second.
class LeaseClock {
 public:
  // The Job as it was answered to a write of ours.
  void wrote(const base::Json& job, base::Instant now);
  // The Job as it was found: an earlier client may have written it last.
  void found(const base::Json& job);

  // The activeDeadlineSeconds with which it lives at least `lease` from now on.
  [[nodiscard]] std::int64_t deadline_seconds(std::chrono::seconds lease, base::Instant now) const;

 private:
  std::chrono::seconds age_{0};
  std::optional<base::Instant> at_;  // when it was that old; none: only that it is not older
};

// Whether it has come to its deadline: what it owns is being removed.
bool is_lease_over(const base::Json& job);

}  // namespace gangrun::kubernetes::pods
