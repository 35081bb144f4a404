#include "net/link_window.h"

#include <algorithm>

namespace gangrun::net {

namespace {

// An acknowledgement that comes so soon lets the window grow by what it is for; one that comes so
// late halves it, once for all that was sent before.
constexpr std::chrono::seconds kSoon(1);
constexpr std::chrono::seconds kLate(2);

// The part of the bytes on the way that waits before the link, by how long an acknowledgement took
// and how long one takes at least.
std::uint64_t queued(std::uint64_t on_the_way, base::Duration delay, base::Duration least) {
  using Seconds = std::chrono::duration<double>;
  if (delay <= least) return 0;
  const double idle = Seconds(least) / Seconds(delay);
  return static_cast<std::uint64_t>(static_cast<double>(on_the_way) * (1 - idle));
}

}  // namespace

void LinkWindow::sent(std::uint64_t bytes, base::Instant now) {
  if (bytes == 0) return;
  on_the_way_ += bytes;
  sent_.push_back({bytes, now});
}

void LinkWindow::taken(std::uint64_t bytes, base::Instant now) {
  bytes = std::min(bytes, on_the_way_);
  if (bytes == 0) return;
  const std::uint64_t were_on_the_way = on_the_way_;
  on_the_way_ -= bytes;
  base::Instant sent_at = now;
  for (std::uint64_t left = bytes; left > 0;) {
    Sent& oldest = sent_.front();
    sent_at = oldest.at;
    const std::uint64_t part = std::min(left, oldest.left);
    oldest.left -= part;
    left -= part;
    if (oldest.left == 0) sent_.pop_front();
  }
  const base::Duration delay = now - sent_at;
  least_delay_ = std::min(least_delay_, delay);
  if (delay >= kLate && sent_at > halved_at_) {
    size_ = std::max(kLeast, size_ / 2);
    halved_at_ = now;
  }
  // Nothing is known of a window that is not used.
  if (delay <= kSoon && were_on_the_way >= size_ / 2 &&
      queued(were_on_the_way, delay, least_delay_) < kMostQueued) {
    size_ = std::min(kMost, size_ + bytes);
  }
}

}  // namespace gangrun::net
