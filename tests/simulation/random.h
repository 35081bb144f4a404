#pragma once

#include <cstdint>

namespace gangrun::simulation {

// The same numbers from the same seed, on every machine and with every library.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    state_ += 0x9E3779B97F4A7C15U;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9U;
    z = (z ^ (z >> 27U)) * 0x94D049BB133111EBU;
    return z ^ (z >> 31U);
  }
  // From `low` to `high`, both included.
  std::int64_t between(std::int64_t low, std::int64_t high) {
    const auto width = static_cast<std::uint64_t>(high - low) + 1;
    return low + static_cast<std::int64_t>(next() % width);
  }
  // True `per_mille` times of a thousand.
  bool chance(int per_mille) { return between(0, 999) < per_mille; }

 private:
  std::uint64_t state_;
};

}  // namespace gangrun::simulation
