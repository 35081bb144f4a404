#include <gtest/gtest.h>

#include "yarn/journal_copy.h"

namespace gangrun::yarn {
namespace {

using job::JobState;

job::JobStatus by_yarn(JobState state) {
  job::JobStatus status;
  status.id = "application_1_0001";
  status.state = state;
  status.ended = "2026-01-31T12:00:00.000Z";
  status.cause = job::Cause{.why = {.reason = job::Reason::kMasterLost}, .told = "YARN says no"};
  return status;
}

std::optional<job::JobStatus> by_journal(JobState state, bool has_run) {
  job::JobStatus status;
  status.id = "application_1_0001";
  status.state = state;
  status.has_run = has_run;
  status.generation = 2;
  status.tasks.resize(3);
  return status;
}

// Its exit status was that of a job of which nothing had run, and it had no tasks.
TEST(LeftJournal, AJobOfWhichTasksRanIsLostWithItsMaster) {
  const auto status =
      status_without_master(by_yarn(JobState::kLost), by_journal(JobState::kRunning, true));
  EXPECT_EQ(status.state, JobState::kLost);
  EXPECT_EQ(status.tasks.size(), 3U);
  EXPECT_EQ(status.generation, 2);
  EXPECT_EQ(status.ended, "2026-01-31T12:00:00.000Z");
  ASSERT_TRUE(status.cause);
  EXPECT_EQ(status.cause->told, "YARN says no");
}

TEST(LeftJournal, OneOfWhichNothingRanHasFailed) {
  for (const auto& journal :
       {by_journal(JobState::kRollCall, false), std::optional<job::JobStatus>()}) {
    const auto status = status_without_master(by_yarn(JobState::kLost), journal);
    EXPECT_EQ(status.state, JobState::kFailed);
    EXPECT_EQ(status.has_run, false);
  }
}

TEST(LeftJournal, WhatYarnHasKilledWasKilled) {
  const auto status =
      status_without_master(by_yarn(JobState::kKilled), by_journal(JobState::kRunning, true));
  EXPECT_EQ(status.state, JobState::kKilled);
}

TEST(LeftJournal, AVerdictThatIsRecordedStands) {
  const auto status =
      status_without_master(by_yarn(JobState::kLost), by_journal(JobState::kSucceeded, true));
  EXPECT_EQ(status.state, JobState::kSucceeded);
  EXPECT_FALSE(status.cause);
}

}  // namespace
}  // namespace gangrun::yarn
