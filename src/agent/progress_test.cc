#include "agent/progress.h"

#include <gtest/gtest.h>

namespace gangrun::agent {
namespace {

TEST(RunProgress, OutputOrCpuTimeIsProgress) {
  RunProgress progress;
  EXPECT_FALSE(progress.since_last(0, 0));
  EXPECT_TRUE(progress.since_last(10, 0));
  EXPECT_FALSE(progress.since_last(10, 0));
  EXPECT_TRUE(progress.since_last(10, 1));
  EXPECT_FALSE(progress.since_last(10, 1));
}

TEST(RunProgress, AnIdleProcessMakesNone) {
  RunProgress progress;
  for (int heartbeat = 1; heartbeat < 100; ++heartbeat) {
    EXPECT_FALSE(progress.since_last(0, heartbeat * 0.9 * kProgressCpuSeconds));
  }
}

// The sum is that of living processes.
TEST(RunProgress, LessCpuTimeThanBeforeIsNoneAndCountsFromThere) {
  RunProgress progress;
  EXPECT_TRUE(progress.since_last(0, 9));
  EXPECT_FALSE(progress.since_last(0, 2));
  EXPECT_TRUE(progress.since_last(0, 3));
}

TEST(RunProgress, EachRunBeginsAnew) {
  RunProgress progress;
  EXPECT_TRUE(progress.since_last(10, 9));
  progress.begin_run();
  EXPECT_FALSE(progress.since_last(0, 0));
  EXPECT_TRUE(progress.since_last(10, 0));
}

}  // namespace
}  // namespace gangrun::agent
