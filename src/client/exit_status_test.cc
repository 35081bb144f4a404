#include "client/exit_status.h"

#include <gtest/gtest.h>

#include <set>

namespace gangrun::client {
namespace {

TEST(ExitStatus, AreAllDifferentAndFitIntoAByte) {
  std::set<int> seen;
  for (const ExitStatusRow& row : exit_status_table()) {
    EXPECT_TRUE(seen.insert(to_int(row.status)).second) << row.meaning;
    EXPECT_GE(to_int(row.status), 0);
    EXPECT_LT(to_int(row.status), 256);
    EXPECT_NE(exit_status_help().find(row.meaning), std::string::npos);
  }
}

TEST(ExitStatus, TellsTheEndsOfAJobApart) {
  job::JobStatus status;
  status.generation = 1;
  status.state = job::JobState::kSucceeded;
  EXPECT_EQ(exit_status_of(status, false), ExitStatus::kSuccess);
  EXPECT_EQ(exit_status_of(status, true), ExitStatus::kSuccess);
  status.state = job::JobState::kFailed;
  EXPECT_EQ(exit_status_of(status, false), ExitStatus::kJobFailed);
  status.generation = 0;
  EXPECT_EQ(exit_status_of(status, false), ExitStatus::kCouldNotStart);
  status.state = job::JobState::kKilled;
  EXPECT_EQ(exit_status_of(status, false), ExitStatus::kJobStopped);
  EXPECT_EQ(exit_status_of(status, true), ExitStatus::kInterrupted);
  status.state = job::JobState::kLost;
  EXPECT_EQ(exit_status_of(status, false), ExitStatus::kJobLost);
}

TEST(ExitStatus, AJobOfWhichNoProgramCouldBeStartedDidNotStart) {
  job::JobStatus status;
  status.generation = 1;
  status.state = job::JobState::kFailed;
  status.tasks = {{.task = {"worker", 0}}, {.task = {"worker", 1}}};
  status.tasks[0].exit = job::Why{.reason = job::Reason::kCouldNotStart, .code = 127};
  EXPECT_EQ(exit_status_of(status, false), ExitStatus::kJobFailed) << "the other one may run";
  status.tasks[1].exit = job::not_begun();
  EXPECT_EQ(exit_status_of(status, false), ExitStatus::kCouldNotStart);
  status.tasks[1].exit = job::Why{.reason = job::Reason::kStopped, .signal = 15};
  EXPECT_EQ(exit_status_of(status, false), ExitStatus::kJobFailed);
  status.tasks[1].exit = job::not_begun();
  status.restarts_used = 1;
  EXPECT_EQ(exit_status_of(status, false), ExitStatus::kJobFailed);
}

// An allocation of pods may end in generation 1, before any of them ran.
TEST(ExitStatus, TheMasterKnowsBest) {
  job::JobStatus status;
  status.generation = 1;
  status.state = job::JobState::kFailed;
  status.tasks = {{.task = {"worker", 0}}};
  status.has_run = false;
  EXPECT_EQ(exit_status_of(status, false), ExitStatus::kCouldNotStart);
  status.has_run = true;
  status.generation = 0;
  EXPECT_EQ(exit_status_of(status, false), ExitStatus::kJobFailed);
  status.tasks[0].exit = job::Why{.reason = job::Reason::kCouldNotStart, .code = 125};
  EXPECT_EQ(exit_status_of(status, false), ExitStatus::kCouldNotStart) << "an image was not there";
}

TEST(ExitStatus, OfAnErrorFollowsItsCode) {
  EXPECT_EQ(exit_status_of(base::invalid_argument("x")), ExitStatus::kBadInput);
  EXPECT_EQ(exit_status_of(base::not_found("x")), ExitStatus::kNoSuchJob);
  EXPECT_EQ(exit_status_of(base::deadline_exceeded("x")), ExitStatus::kTimeLimit);
  EXPECT_EQ(exit_status_of(base::unavailable("x")), ExitStatus::kFailed);
}

}  // namespace
}  // namespace gangrun::client
