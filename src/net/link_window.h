#pragma once

#include <cstdint>
#include <deque>

#include "base/clock.h"

namespace gangrun::net {

// How many bytes of one kind, such as lines, may be on their way to the other side. All else that
// is told, such as that a task lives, waits behind them: so there are no more than the link takes
// in about a second, as far as acknowledgements tell, but kLeast. On a link that takes them faster
// they are no more than keep it busy, and kMostQueued: it may become slow at any time. No clock.
class LinkWindow {
 public:
  // The bytes that a link of 64 kbit/s takes in two seconds.
  static constexpr std::uint64_t kLeast = std::uint64_t{16} << 10U;
  static constexpr std::uint64_t kMostQueued = std::uint64_t{128} << 10U;
  static constexpr std::uint64_t kMost = std::uint64_t{1} << 20U;

  // The bytes that may be sent now.
  [[nodiscard]] std::uint64_t room() const { return on_the_way_ < size_ ? size_ - on_the_way_ : 0; }
  void sent(std::uint64_t bytes, base::Instant now);
  // Another side that acknowledges more than was sent has said nothing.
  void taken(std::uint64_t bytes, base::Instant now);

 private:
  struct Sent {
    std::uint64_t left = 0;  // that was not acknowledged
    base::Instant at;
  };

  std::uint64_t size_ = kLeast;
  std::uint64_t on_the_way_ = 0;
  std::deque<Sent> sent_;  // oldest first
  base::Instant halved_at_ = base::Instant::min();
  base::Duration least_delay_ = base::Duration::max();  // of an acknowledgement: nothing was queued
};

}  // namespace gangrun::net
