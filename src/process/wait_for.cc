#include "process/wait_for.h"

#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <chrono>

namespace gangrun::process {

bool wait_any_readable(const std::vector<int>& fds, base::Instant deadline) {
  std::vector<pollfd> polled;
  polled.reserve(fds.size());
  for (const int fd : fds) polled.push_back({.fd = fd, .events = POLLIN, .revents = 0});
  while (true) {
    const auto left =
        std::chrono::ceil<base::milliseconds>(deadline - std::chrono::steady_clock::now());
    constexpr base::milliseconds kLongestPoll(3'600'000);
    const auto slice = std::clamp(left, base::milliseconds(0), kLongestPoll);
    const int ready = ::poll(polled.data(), polled.size(), static_cast<int>(slice.count()));
    if (ready > 0) return true;
    if (ready < 0 && errno != EINTR) return false;
    if (left <= base::milliseconds(0)) return false;
  }
}

bool wait_readable(int fd, base::Instant deadline) { return wait_any_readable({fd}, deadline); }

}  // namespace gangrun::process
