#include "host/ending_signals.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

namespace gangrun::host {

namespace {

TEST(EndingSignals, LeaveOutWhatTheCallerIgnores) {
  using testing::Contains;
  using testing::IsSupersetOf;
  using testing::Not;
  EXPECT_THAT(ending_signals(), IsSupersetOf({SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGXCPU}));
  EXPECT_THAT(job_signals(), IsSupersetOf({SIGTERM, SIGUSR1, SIGUSR2}));
  for (const int number : {SIGHUP, SIGUSR1}) {
    ASSERT_NE(::signal(number, SIG_IGN), SIG_ERR);
    EXPECT_THAT(job_signals(), Not(Contains(number)));
    ASSERT_NE(::signal(number, SIG_DFL), SIG_ERR);
  }
}

TEST(EndingSignals, HaveNamesForPeople) {
  EXPECT_EQ(name_of_signal(SIGINT), "Ctrl-C");
  EXPECT_EQ(name_of_signal(SIGTERM), "SIGTERM");
  EXPECT_EQ(name_of_signal(SIGXCPU), "SIGXCPU");
  EXPECT_EQ(name_of_signal(SIGRTMIN), "signal 34");
  EXPECT_EQ(name_of_signal(SIGHUP), "the loss of its terminal");
}

}  // namespace

}  // namespace gangrun::host
