#pragma once

#include <algorithm>
#include <utility>

#include "base/clock.h"

namespace gangrun::base {

// The pauses between tries of the same thing: each is twice as long as the one before it, up to the
// longest.
class Pause {
 public:
  constexpr Pause() = default;
  constexpr Pause(Duration first, Duration longest)
      : first_(std::min(first, longest)), longest_(longest), next_(first_) {}

  // The pause to make now.
  constexpr Duration next() { return std::exchange(next_, std::min(2 * next_, longest_)); }
  // The next one is the first again.
  constexpr void reset() { next_ = first_; }

  friend bool operator==(const Pause&, const Pause&) = default;

 private:
  Duration first_{};
  Duration longest_{};
  Duration next_{};
};

// Blocks the thread: between two looks at something that tells nobody of its changes, where there
// is no event loop.
void pause_for(Duration length);

}  // namespace gangrun::base
