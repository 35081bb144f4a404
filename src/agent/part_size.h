#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

#include "base/clock.h"
#include "wire/message_forms.h"

namespace gangrun::agent {

// For so long the answer to a part is awaited: on a cluster the last one comes when the whole is on
// its file system.
inline constexpr std::chrono::minutes kResultPartTimeout{6};

// So little of it waits before a heartbeat on the slowest link.
inline constexpr std::int64_t kLeastResultPartBytes = std::int64_t{8} << 10U;

// The size of the next part of what a run has left, on its way to the master, each part after the
// answer to the one before. Heartbeats wait behind a part: parts are as large as an answer in about
// a second allows, but kLeastResultPartBytes.
class PartSize {
 public:
  [[nodiscard]] std::int64_t bytes() const { return bytes_; }
  // How fast a new session is, is not known.
  void begin() { bytes_ = kLeastResultPartBytes; }
  void answered(base::Duration after) {
    constexpr std::int64_t kMost = wire::kMaxResultPartBytes;
    if (after <= kSoon) bytes_ = std::min(kMost, bytes_ * 2);
    if (after >= kLate) bytes_ = std::max(kLeastResultPartBytes, bytes_ / 2);
  }

 private:
  // An answer that comes so soon doubles the next part; one that comes so late halves it.
  static constexpr std::chrono::seconds kSoon{1};
  static constexpr std::chrono::seconds kLate{2};

  std::int64_t bytes_ = kLeastResultPartBytes;
};

}  // namespace gangrun::agent
