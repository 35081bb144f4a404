#include "net/deadline_timer.h"

#include <utility>

namespace gangrun::net {

void DeadlineTimer::set(EventLoop& loop, std::optional<base::Instant> next,
                        std::function<void()> on_time) {
  if (next == at_) return;
  at_ = next;
  timer_.reset();
  if (!next) return;
  timer_ = loop.at(*next, [this, on_time = std::move(on_time)] {
    at_.reset();
    on_time();
  });
}

}  // namespace gangrun::net
