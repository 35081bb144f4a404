#include "net/deadline_timer.h"

#include <gmock/gmock.h>

#include <vector>

namespace gangrun::net {
namespace {

using base::milliseconds;
using testing::ElementsAre;
using testing::IsEmpty;

class DeadlineTimerTest : public testing::Test {
 protected:
  void set(std::optional<base::Instant> next, int name) {
    timer_.set(loop_, next, [this, name] { called_.push_back(name); });
  }
  void run_until(base::Instant end) {
    loop_.run_until([] { return false; }, end);
  }

  EventLoop loop_;
  DeadlineTimer timer_;
  std::vector<int> called_;
  const base::Instant soon_ = loop_.now() + milliseconds(20);
};

TEST_F(DeadlineTimerTest, CallsOnceAndNotBefore) {
  set(soon_, 1);
  run_until(soon_ - milliseconds(10));
  EXPECT_THAT(called_, IsEmpty());
  run_until(soon_ + milliseconds(20));
  EXPECT_THAT(called_, ElementsAre(1));
}

TEST_F(DeadlineTimerTest, AnotherInstantReplacesTheFirst) {
  set(soon_ + milliseconds(5), 1);
  set(soon_, 2);
  run_until(soon_ + milliseconds(20));
  EXPECT_THAT(called_, ElementsAre(2));
}

TEST_F(DeadlineTimerTest, TheSameInstantChangesNothing) {
  set(soon_, 1);
  set(soon_, 2);
  run_until(soon_ + milliseconds(20));
  EXPECT_THAT(called_, ElementsAre(1));
}

TEST_F(DeadlineTimerTest, NoInstantIsNoCall) {
  set(soon_, 1);
  set(std::nullopt, 1);
  run_until(soon_ + milliseconds(20));
  EXPECT_THAT(called_, IsEmpty());
}

TEST_F(DeadlineTimerTest, MayBeSetAgainByWhatItCalls) {
  timer_.set(loop_, soon_, [this] {
    called_.push_back(1);
    set(soon_, 2);
  });
  run_until(soon_ + milliseconds(20));
  EXPECT_THAT(called_, ElementsAre(1, 2));
}

}  // namespace
}  // namespace gangrun::net
