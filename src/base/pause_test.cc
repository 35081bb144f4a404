#include "base/pause.h"

#include <gmock/gmock.h>

namespace gangrun::base {
namespace {

using testing::ElementsAre;

TEST(Pause, DoublesUpToTheLongestAndBeginsAgain) {
  Pause pause(milliseconds(100), milliseconds(500));
  const std::vector<Duration> pauses{pause.next(), pause.next(), pause.next(), pause.next(),
                                     pause.next()};
  EXPECT_THAT(pauses, ElementsAre(milliseconds(100), milliseconds(200), milliseconds(400),
                                  milliseconds(500), milliseconds(500)));
  pause.reset();
  EXPECT_EQ(pause.next(), milliseconds(100));
}

TEST(Pause, IsNeverLongerThanTheLongest) {
  Pause pause(seconds(5), seconds(2));
  EXPECT_EQ(pause.next(), seconds(2));
  EXPECT_EQ(Pause().next(), Duration(0));
}

TEST(Pause, IsNoShorterThanAskedForAndLaterOnesFollowFromIt) {
  Pause pause(seconds(1), seconds(30));
  EXPECT_EQ(pause.next(seconds(5)), seconds(5));
  EXPECT_EQ(pause.next(seconds(5)), seconds(10));
  EXPECT_EQ(pause.next(seconds(50)), seconds(30));
}

TEST(Between, IsThatPartOfTheWay) {
  EXPECT_EQ(between(seconds(2), seconds(6), 0), seconds(2));
  EXPECT_EQ(between(seconds(2), seconds(6), 0.25), seconds(3));
  EXPECT_EQ(between(seconds(2), seconds(6), 1), seconds(6));
}

TEST(PauseFor, LastsAtLeastSoLong) {
  const SystemClock clock;
  const Instant begun = clock.now();
  pause_for(milliseconds(2));
  EXPECT_GE(clock.now() - begun, milliseconds(2));
}

}  // namespace
}  // namespace gangrun::base
