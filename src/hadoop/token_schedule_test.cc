#include "hadoop/token_schedule.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gangrun::hadoop {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

const base::WallTime kStart(base::milliseconds(1'700'000'000'000));
const TokenLife kDay{kStart, kStart + 24h};

TEST(TokenSchedule, ThreeQuartersOfALifeAreUsed) {
  EXPECT_EQ(replacement_time(kDay), kStart + 18h);
  EXPECT_EQ(replacement_time({kStart, kStart + 60s}), kStart + 45s);
}

TEST(TokenSchedule, NoLifeIsTooShortForAPause) {
  for (const auto life : {0ms, 1ms, 1000ms}) {
    EXPECT_EQ(replacement_time({kStart, kStart + life}), kStart + kShortestPause);
  }
  // Not even one that was over before it began.
  EXPECT_EQ(replacement_time({kStart, kStart - 1h}), kStart + kShortestPause);
}

TEST(TokenSchedule, AFailureIsTriedAgainMoreThanOnceBeforeTheEnd) {
  for (const base::WallTime::duration length :
       std::initializer_list<base::WallTime::duration>{60s, 1h, 24h, 24h * 365}) {
    const TokenLife life{kStart, kStart + length};
    int tries = 0;
    base::WallTime now = replacement_time(life);
    while (now < life.ends) {
      const base::WallTime next = retry_time(life, now);
      EXPECT_GE(next - now, kShortestPause);
      EXPECT_LE(next - now, kLongestPause);
      now = next;
      ++tries;
    }
    EXPECT_GE(tries, 4);
  }
}

TEST(TokenSchedule, WhatHasEndedIsStillTriedAtTheLongestPause) {
  EXPECT_EQ(retry_time(kDay, kDay.ends), kDay.ends + kLongestPause);
  EXPECT_EQ(retry_time(kDay, kDay.ends + 7h), kDay.ends + 7h + kLongestPause);
}

TEST(TokenSchedule, WithAKeytabGoesFromLifeToLife) {
  TokenSchedule schedule(kDay, true);
  EXPECT_TRUE(schedule.replaces());
  EXPECT_EQ(schedule.next(), kStart + 18h);
  schedule.on_replaced({kStart + 18h, kStart + 42h});
  EXPECT_EQ(schedule.next(), kStart + 36h);
  schedule.on_failed(kStart + 36h);
  EXPECT_EQ(schedule.next(), kStart + 36h + kLongestPause);
  EXPECT_FALSE(schedule.ended(kStart + 36h));
  EXPECT_TRUE(schedule.ended(kStart + 42h));
  EXPECT_THAT(schedule.sentence(), HasSubstr("no others could be got"));
}

TEST(TokenSchedule, WithoutOneTheEndIsToldOnce) {
  TokenSchedule schedule({kStart, kStart + 60s}, false);
  EXPECT_FALSE(schedule.replaces());
  EXPECT_EQ(schedule.next(), kStart + 60s);
  EXPECT_EQ(schedule.sentence(),
            "the job's Hadoop tokens have ended at 2023-11-14T22:14:20.000Z, 1 min after it was "
            "submitted: a job that runs longer needs --principal and --keytab");
  schedule.on_told();
  EXPECT_EQ(schedule.next(), std::nullopt);
}

}  // namespace
}  // namespace gangrun::hadoop
