#pragma once

#include <chrono>

#include "base/clock.h"

// For tests: how long they wait for what comes at once when they pass.
namespace gangrun::base {

inline Instant soon(Duration length = std::chrono::seconds(20)) {
  return SystemClock().now() + length;
}

}  // namespace gangrun::base
