#pragma once

#include <cstdint>

namespace gangrun::agent {

// Less CPU time between two heartbeats is no progress: an idle Python uses as much.
inline constexpr double kProgressCpuSeconds = 0.05;

// Whether a run has done anything since the last heartbeat: said something, or computed.
class RunProgress {
 public:
  void begin_run() { *this = {}; }
  // Both from the beginning of the run.
  [[nodiscard]] bool since_last(std::uint64_t output_bytes, double cpu_seconds) {
    const bool is_any =
        output_bytes != output_bytes_ || cpu_seconds > cpu_seconds_ + kProgressCpuSeconds;
    output_bytes_ = output_bytes;
    cpu_seconds_ = cpu_seconds;
    return is_any;
  }

 private:
  std::uint64_t output_bytes_ = 0;
  double cpu_seconds_ = 0;
};

}  // namespace gangrun::agent
