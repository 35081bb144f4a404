#pragma once

#include <optional>

#include "base/clock.h"

namespace gangrun::kubernetes::pods {

// Other machines' times as instants here. Whatever is told is told after it happened, so the
// smallest distance ever seen between the two clocks is the best guess at it.
class ServerTime {
 public:
  // Something of this time was heard of now.
  void heard(base::WallTime time, base::Instant now);
  // Never after `now`; `now` before anything was heard.
  [[nodiscard]] base::Instant instant_of(base::WallTime time, base::Instant now) const;

 private:
  std::optional<base::Duration> ahead_;  // of our instants before their times
};

}  // namespace gangrun::kubernetes::pods
