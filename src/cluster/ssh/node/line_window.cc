#include "cluster/ssh/node/line_window.h"

#include <algorithm>

namespace gangrun::node {

namespace {

// An acknowledgement that comes so soon lets the window grow by what it is for; one that comes so
// late halves it, once for all that was sent before.
constexpr std::chrono::seconds kSoon(1);
constexpr std::chrono::seconds kLate(2);

}  // namespace

void LineWindow::sent(std::uint64_t bytes, base::Instant now) {
  if (bytes == 0) return;
  on_the_way_ += bytes;
  sent_.push_back({bytes, now});
}

void LineWindow::taken(std::uint64_t bytes, base::Instant now) {
  bytes = std::min(bytes, on_the_way_);
  if (bytes == 0) return;
  const bool was_full = on_the_way_ >= size_ / 2;
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
  if (now - sent_at >= kLate && sent_at > halved_at_) {
    size_ = std::max(kLeast, size_ / 2);
    halved_at_ = now;
  }
  // Of a window that is not used nothing is known.
  if (now - sent_at <= kSoon && was_full) size_ = std::min(kMost, size_ + bytes);
}

}  // namespace gangrun::node
