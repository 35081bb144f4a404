#include "cluster/ssh/node/line_window.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <utility>

namespace gangrun::node {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr milliseconds kStep(10);
constexpr std::uint64_t kStepsASecond = 100;
// What a client takes before it says so.
constexpr std::uint64_t kToldAtOnce = 4096;

// A link that carries so many bytes a second, with lines of a task that writes without end, and the
// acknowledgements of a client.
class ThrottledLink {
 public:
  explicit ThrottledLink(std::uint64_t rate) : rate_(rate) {}

  void set_rate(std::uint64_t rate) { rate_ = rate; }
  [[nodiscard]] std::uint64_t carried() const { return carried_; }
  // The most that was on its way at one time: what is told behind it waits for all of it.
  std::uint64_t run(seconds time) {
    std::uint64_t most = 0;
    for (const base::Instant end = now_ + time; now_ < end; now_ += kStep) {
      const std::uint64_t more = window_.room();
      window_.sent(more, now_);
      on_the_way_ += more;
      most = std::max(most, on_the_way_);
      const std::uint64_t carried = std::min(on_the_way_, rate_ / kStepsASecond);
      on_the_way_ -= carried;
      carried_ += carried;
      untold_ += carried;
      if (untold_ >= kToldAtOnce) window_.taken(std::exchange(untold_, 0), now_);
    }
    return most;
  }

 private:
  LineWindow window_;
  std::uint64_t rate_;
  std::uint64_t on_the_way_ = 0;
  std::uint64_t carried_ = 0;
  std::uint64_t untold_ = 0;
  base::Instant now_;
};

TEST(LineWindow, WhatIsToldBehindLinesWaitsForSecondsOnTheSlowestLink) {
  // It was 1 MiB, which 64 kbit/s take in two minutes: the leases of tasks were over before.
  constexpr std::uint64_t kRate = 8000;
  ThrottledLink link(kRate);
  EXPECT_LE(link.run(seconds(60)), 3 * kRate);
  EXPECT_GE(link.carried(), 58 * kRate);
}

TEST(LineWindow, FillsLinksOfAnySpeed) {
  for (const std::uint64_t rate : {64'000, 125'000, 1'000'000, 100'000'000}) {
    ThrottledLink link(rate);
    (void)link.run(seconds(10));
    const std::uint64_t before = link.carried();
    const std::uint64_t most = link.run(seconds(10));
    EXPECT_LE(most, 2 * rate + LineWindow::kLeast);
    EXPECT_LE(most, LineWindow::kMost);
    // It looks once each kStep, and sends a window at most.
    EXPECT_GE(link.carried() - before,
              10 * std::min(rate - rate / 50, (LineWindow::kMost - kToldAtOnce) * kStepsASecond))
        << rate;
  }
}

TEST(LineWindow, BecomesSmallAgainWhereALinkBecomesSlow) {
  ThrottledLink link(10'000'000);
  (void)link.run(seconds(5));
  link.set_rate(100'000);
  (void)link.run(seconds(60));
  EXPECT_LE(link.run(seconds(10)), 3 * 100'000U);
}

TEST(LineWindow, AClientThatAcknowledgesWhatWasNotSentGetsNoMore) {
  LineWindow window;
  const base::Instant now;
  window.taken(std::uint64_t{1} << 40U, now);
  EXPECT_EQ(window.room(), LineWindow::kLeast);
  window.sent(LineWindow::kLeast, now);
  EXPECT_EQ(window.room(), 0U);
  window.taken(std::uint64_t{1} << 40U, now);
  EXPECT_EQ(window.room(), 2 * LineWindow::kLeast);
}

}  // namespace
}  // namespace gangrun::node
