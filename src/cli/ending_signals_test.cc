#include "cli/ending_signals.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

namespace gangrun::cli {

namespace {

TEST(EndingSignals, LeaveOutWhatTheCallerIgnores) {
  using testing::ElementsAre;
  EXPECT_THAT(ending_signals(), ElementsAre(SIGINT, SIGTERM, SIGHUP));
  ASSERT_NE(::signal(SIGHUP, SIG_IGN), SIG_ERR);
  EXPECT_THAT(ending_signals(), ElementsAre(SIGINT, SIGTERM));
  ASSERT_NE(::signal(SIGHUP, SIG_DFL), SIG_ERR);
}

TEST(EndingSignals, HaveNamesForPeople) {
  EXPECT_EQ(name_of_signal(SIGINT), "Ctrl-C");
  EXPECT_EQ(name_of_signal(SIGTERM), "SIGTERM");
  EXPECT_EQ(name_of_signal(SIGHUP), "the loss of its terminal");
}

}  // namespace

}  // namespace gangrun::cli
