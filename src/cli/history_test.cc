#include "cli/history.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gangrun::cli {

namespace {

using testing::HasSubstr;

// 2026-01-31T12:00:00Z
const base::WallTime kNow{std::chrono::seconds(1769860800)};

job::JobStatus job_at(const std::string& submitted, job::JobState state) {
  job::JobStatus status;
  status.id = submitted;
  status.submitted = submitted;
  status.state = state;
  return status;
}

std::vector<std::string> ids(const std::vector<job::JobStatus>& jobs) {
  std::vector<std::string> result;
  for (const job::JobStatus& status : jobs) result.push_back(status.id);
  return result;
}

TEST(History, HasEndedJobsOnly) {
  const auto all = history_of({job_at("2026-01-31T11:00:00.000Z", job::JobState::kRunning),
                               job_at("2026-01-31T10:00:00.000Z", job::JobState::kFailed)},
                              {});
  EXPECT_THAT(ids(all), testing::ElementsAre("2026-01-31T10:00:00.000Z"));
}

TEST(History, TasksThatAreNotKnownAreNotCounted) {
  job::JobStatus known = job_at("2026-01-31T11:00:00.000Z", job::JobState::kSucceeded);
  known.tasks.resize(2);
  const client::Lines lines =
      job_table({known, job_at("2026-01-31T10:00:00.000Z", job::JobState::kSucceeded)}, 0);
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_THAT(lines[1].text(), HasSubstr("succeeded      2  "));
  EXPECT_THAT(lines[2].text(), HasSubstr("succeeded      -  "));
}

TEST(History, SinceIsATimeAgoOrAMoment) {
  const std::vector<job::JobStatus> jobs = {
      job_at("2026-01-31T11:30:00.000Z", job::JobState::kSucceeded),
      job_at("2026-01-30T11:30:00.000Z", job::JobState::kSucceeded)};
  for (const std::string since : {"1h", "2026-01-31", "2026-01-31T11:30", "2026-01-30T11:30:01"}) {
    const auto filter = history_filter(since, std::nullopt, kNow);
    ASSERT_TRUE(filter.ok()) << filter.error().message;
    EXPECT_EQ(history_of(jobs, *filter).size(), 1U) << since;
  }
  const auto two_days = history_filter("2d", std::nullopt, kNow);
  ASSERT_TRUE(two_days.ok());
  EXPECT_EQ(history_of(jobs, *two_days).size(), 2U);
}

TEST(History, StateIsOneThatAJobEndsIn) {
  const auto failed = history_filter(std::nullopt, "failed", kNow);
  ASSERT_TRUE(failed.ok());
  EXPECT_EQ(history_of({job_at("b", job::JobState::kFailed), job_at("a", job::JobState::kKilled)},
                       *failed)
                .size(),
            1U);
}

TEST(History, BadInputIsNamed) {
  for (const std::string since : {"yesterday", "2026-1-31", "", "2026-01-31 12:00", "-1h"}) {
    const auto filter = history_filter(since, std::nullopt, kNow);
    ASSERT_FALSE(filter.ok()) << since;
    EXPECT_THAT(filter.error().message, HasSubstr("--since: '" + since + "'"));
  }
  for (const std::string state : {"running", "dead", ""}) {
    const auto filter = history_filter(std::nullopt, state, kNow);
    ASSERT_FALSE(filter.ok()) << state;
    EXPECT_THAT(filter.error().message, HasSubstr("allowed: succeeded, failed, killed, lost"));
  }
}

TEST(History, TheTableHasTheCause) {
  job::JobStatus status = job_at("2026-01-31T11:00:00.000Z", job::JobState::kFailed);
  status.cause = job::Cause{.task = job::TaskId{"worker", 0},
                            .why = {.reason = job::Reason::kExitStatus, .code = 3}};
  const client::Lines lines = job_table({status}, 0);
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_THAT(lines[1].text(), HasSubstr("worker:0 exited with status 3"));
}

}  // namespace

}  // namespace gangrun::cli
