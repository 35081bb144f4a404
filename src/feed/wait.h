#pragma once

#include <atomic>
#include <cstdint>
#include <functional>

#include "base/clock.h"
#include "base/result.h"

namespace gangrun::feed {

// Asked at least every kSlice of a wait; true ends it with kCancelled.
using Interrupted = std::function<bool()>;
inline constexpr base::Duration kSlice = std::chrono::milliseconds(100);

inline base::Instant now() { return std::chrono::steady_clock::now(); }

// Sleeps until another thread or process wakes the word, it has another value than `seen`, or the
// limit has passed. Who shares the word can at most wake too often or not at all.
void wait_on(std::atomic<std::uint32_t>& word, std::uint32_t seen, base::Duration limit);
void wake(std::atomic<std::uint32_t>& word);

// The time limit of one call.
class Patience {
 public:
  explicit Patience(base::Duration timeout, const Interrupted& interrupted);

  // How long to sleep now: at most kSlice; zero or less when the time is over.
  [[nodiscard]] base::Duration slice() const;
  [[nodiscard]] base::Result<> check_interrupted() const;

 private:
  base::Instant deadline_;
  const Interrupted& interrupted_;
};

}  // namespace gangrun::feed
