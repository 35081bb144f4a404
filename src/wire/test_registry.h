#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "base/clock.h"
#include "base/test_folder.h"
#include "base/test_log.h"
#include "job/cluster_spec.h"
#include "net/event_loop.h"

// Helpers of several tests of this room.
namespace gangrun::wire {

// Long enough for the slowest machine; no test waits for it when it passes.
inline constexpr std::chrono::seconds kTestLimit{60};

inline base::Instant test_deadline() { return std::chrono::steady_clock::now() + kTestLimit; }

// The address of the task of a test, and the secret of its job.
inline const job::Address kTaskHome{"10.0.0.7", 4711};
inline const std::string kJobSecret = "0123456789abcdef";

using base::LogRecorder;
using base::TestFolder;

// The value of `work`, which blocks, while the loop serves it.
template <typename Work>
auto while_serving(net::EventLoop& loop, Work work) {
  std::optional<decltype(work())> value;
  bool done = false;
  std::thread thread([&] {
    value.emplace(work());
    loop.post([&done] { done = true; });
  });
  loop.run_until([&done] { return done; }, test_deadline());
  thread.join();
  return *std::move(value);
}

}  // namespace gangrun::wire
