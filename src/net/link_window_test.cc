#include "net/link_window.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <utility>

namespace gangrun::net {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr milliseconds kStep(10);
constexpr std::uint64_t kStepsASecond = 100;
// The bytes that a client takes before it says so.
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
  LinkWindow window_;
  std::uint64_t rate_;
  std::uint64_t on_the_way_ = 0;
  std::uint64_t carried_ = 0;
  std::uint64_t untold_ = 0;
  base::Instant now_;
};

TEST(LinkWindow, WhatIsToldBehindLinesWaitsForSecondsOnTheSlowestLink) {
  // It was 1 MiB, which 64 kbit/s take in two minutes: the leases of tasks were over before.
  constexpr std::uint64_t kRate = 8000;
  ThrottledLink link(kRate);
  EXPECT_LE(link.run(seconds(60)), 3 * kRate);
  EXPECT_GE(link.carried(), 58 * kRate);
}

TEST(LinkWindow, FillsLinksOfAnySpeed) {
  for (const std::uint64_t rate : {64'000, 125'000, 1'000'000, 100'000'000}) {
    ThrottledLink link(rate);
    (void)link.run(seconds(10));
    const std::uint64_t before = link.carried();
    const std::uint64_t most = link.run(seconds(10));
    EXPECT_LE(most, 2 * rate + LinkWindow::kLeast);
    EXPECT_LE(most, LinkWindow::kMost);
    // It looks once each kStep, and sends a window at most.
    EXPECT_GE(link.carried() - before,
              10 * std::min(rate - rate / 50, (LinkWindow::kMost - kToldAtOnce) * kStepsASecond))
        << rate;
  }
}

TEST(LinkWindow, BecomesSmallAgainWhereALinkBecomesSlow) {
  ThrottledLink link(10'000'000);
  (void)link.run(seconds(5));
  link.set_rate(100'000);
  (void)link.run(seconds(60));
  EXPECT_LE(link.run(seconds(10)), 3 * 100'000U);
}

// Whatever is on its way then comes at the new speed, and heartbeats after it. What the link
// carries in a step counts as no queue.
TEST(LinkWindow, AFastLinkThatBecomesSlowHasLittleOnItsWay) {
  for (const std::uint64_t rate : {1'000'000, 10'000'000}) {
    ThrottledLink link(rate);
    (void)link.run(seconds(20));
    link.set_rate(8000);
    EXPECT_LE(link.run(seconds(1)),
              LinkWindow::kMostQueued + 2 * rate / kStepsASecond + kToldAtOnce)
        << rate;
  }
}

// Nothing waits before it: all is on its way.
TEST(LinkWindow, FillsALongLink) {
  constexpr std::uint64_t kAtATime = 4096;
  constexpr milliseconds kTrip(200);
  LinkWindow window;
  base::Instant now;
  for (int trips = 0; trips < 40; ++trips) {
    const std::uint64_t room = window.room();
    window.sent(room, now);
    now += kTrip;
    for (std::uint64_t left = room; left > 0;) {
      const std::uint64_t part = std::min(left, kAtATime);
      window.taken(part, now);
      left -= part;
    }
  }
  EXPECT_EQ(window.room(), LinkWindow::kMost);
}

TEST(LinkWindow, AClientThatAcknowledgesWhatWasNotSentGetsNoMore) {
  LinkWindow window;
  const base::Instant now;
  window.taken(std::uint64_t{1} << 40U, now);
  EXPECT_EQ(window.room(), LinkWindow::kLeast);
  window.sent(LinkWindow::kLeast, now);
  EXPECT_EQ(window.room(), 0U);
  window.taken(std::uint64_t{1} << 40U, now);
  EXPECT_EQ(window.room(), 2 * LinkWindow::kLeast);
}

}  // namespace
}  // namespace gangrun::net
