#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "base/result.h"

namespace gangrun::base {

using std::chrono::milliseconds;
using std::chrono::seconds;

// Never goes back; what every deadline and duration is measured with.
using Instant = std::chrono::steady_clock::time_point;
// The time that people and journals read.
using WallTime = std::chrono::system_clock::time_point;
using Duration = std::chrono::nanoseconds;

// Time as a capability: handed down from main, replaced by a virtual one in tests.
class Clock {
 public:
  virtual ~Clock() = default;
  [[nodiscard]] virtual Instant now() const = 0;
  [[nodiscard]] virtual WallTime wall_now() const = 0;
};

class SystemClock final : public Clock {
 public:
  [[nodiscard]] Instant now() const override { return std::chrono::steady_clock::now(); }
  [[nodiscard]] WallTime wall_now() const override { return std::chrono::system_clock::now(); }
};

// "2026-01-31T12:00:00.123Z"
std::string to_iso8601(WallTime time);
// Reads what to_iso8601() writes, and nothing else; kInvalidArgument.
Result<WallTime> parse_iso8601(std::string_view text);
// For people, in the two largest units: "41 s", "2 min 5 s", "1 h 3 min", "250 ms".
std::string to_words(Duration duration);

}  // namespace gangrun::base
