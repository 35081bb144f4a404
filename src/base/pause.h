#pragma once

#include <algorithm>

#include "base/clock.h"

namespace gangrun::base {

// The pauses between tries of the same thing: each is twice as long as the one before it, up to the
// longest.
class Pause {
 public:
  constexpr Pause() = default;
  constexpr Pause(Duration first, Duration longest)
      : first_(std::min(first, longest)), longest_(longest), next_(first_) {}

  // The pause to make now: no shorter than `least`, and no longer than the longest.
  constexpr Duration next(Duration least = Duration(0)) {
    const Duration pause = std::clamp(least, next_, longest_);
    next_ = std::min(2 * pause, longest_);
    return pause;
  }
  // The next one is the first again.
  constexpr void reset() { next_ = first_; }

  friend bool operator==(const Pause&, const Pause&) = default;

 private:
  Duration first_{};
  Duration longest_{};
  Duration next_{};
};

// The length at `part`, from 0 to 1, of the way from one to the other: random pauses are made so.
constexpr Duration between(Duration least, Duration most, double part) {
  return least + std::chrono::duration_cast<Duration>((most - least) * part);
}

// Blocks the thread: between two looks at something that tells nobody of its changes, where there
// is no event loop.
void pause_for(Duration length);

}  // namespace gangrun::base
