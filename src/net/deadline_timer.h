#pragma once

#include <functional>
#include <optional>

#include "base/clock.h"
#include "net/event_loop.h"

namespace gangrun::net {

// The one timer of a state machine without a clock, which says when it is to be told of the time.
class DeadlineTimer {
 public:
  // Has `on_time` called in the loop, once, at `next`; never for none. It replaces what was set
  // before, unless that is for the same instant. May be called from `on_time`.
  void set(EventLoop& loop, std::optional<base::Instant> next, std::function<void()> on_time);

 private:
  Timer timer_;
  std::optional<base::Instant> at_;
};

}  // namespace gangrun::net
