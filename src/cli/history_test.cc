#include "cli/history.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gangrun::cli {

namespace {

using testing::HasSubstr;

// 2026-01-31T12:00:00Z
const base::WallTime kNow{std::chrono::seconds(1769860800)};

cluster::ListedJob job_at(const std::string& submitted, job::JobState state) {
  job::JobStatus status;
  status.id = submitted;
  status.submitted = submitted;
  status.state = state;
  return {status};
}

std::vector<std::string> ids(const std::vector<cluster::ListedJob>& jobs) {
  std::vector<std::string> result;
  for (const cluster::ListedJob& job : jobs) result.push_back(job.status.id);
  return result;
}

TEST(History, HasEndedJobsOnly) {
  const auto all = history_of({job_at("2026-01-31T11:00:00.000Z", job::JobState::kRunning),
                               job_at("2026-01-31T10:00:00.000Z", job::JobState::kFailed)},
                              {});
  EXPECT_THAT(ids(all), testing::ElementsAre("2026-01-31T10:00:00.000Z"));
}

TEST(History, TasksThatAreNotKnownAreNotCounted) {
  cluster::ListedJob known = job_at("2026-01-31T11:00:00.000Z", job::JobState::kSucceeded);
  known.status.tasks.resize(2);
  const client::Lines lines =
      job_table({known, job_at("2026-01-31T10:00:00.000Z", job::JobState::kSucceeded)}, 0);
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_THAT(lines[1].text(), HasSubstr("succeeded      2  "));
  EXPECT_THAT(lines[2].text(), HasSubstr("succeeded      -  "));
}

TEST(History, SinceIsATimeAgoOrAMoment) {
  const std::vector<cluster::ListedJob> jobs = {
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

TEST(History, AJobThatCannotBeReadIsNamed) {
  cluster::ListedJob damaged = job_at("2026-01-31T11:00:00.000Z", job::JobState::kAllocating);
  damaged.unreadable = "000001.jsonl, line 1: this is not a journal of gangrun";
  const std::vector<cluster::ListedJob> jobs = {
      damaged, job_at("2026-01-31T10:00:00.000Z", job::JobState::kFailed)};
  EXPECT_EQ(history_of(jobs, {}).size(), 2U);
  EXPECT_EQ(history_of(jobs, {.since = "2026-01-31T10:30", .state = {}}).size(), 1U);
  EXPECT_EQ(history_of(jobs, {.since = {}, .state = job::JobState::kFailed}).size(), 1U)
      << "how it ended is not known";
  const client::Lines lines = job_table(jobs, 0);
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_THAT(lines[1].text(),
              testing::MatchesRegex(
                  ".*unreadable +- +2026-01-31T11:00:00 +- +000001.jsonl, line 1: this is not .*"));
  const base::Json json = to_json(jobs);
  EXPECT_EQ(json[0]["state"], "unreadable");
  EXPECT_EQ(json[0]["error"], damaged.unreadable);
  EXPECT_EQ(json[1]["state"], "failed");
  EXPECT_FALSE(json[1].contains("error"));
}

TEST(History, TheTableHasTheCause) {
  job::JobStatus status = job_at("2026-01-31T11:00:00.000Z", job::JobState::kFailed).status;
  status.cause = job::Cause{.task = job::TaskId{"worker", 0},
                            .why = {.reason = job::Reason::kExitStatus, .code = 3}};
  const client::Lines lines = job_table({{status}}, 0);
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_THAT(lines[1].text(), HasSubstr("worker:0 exited with status 3"));
}

// It stood there as one that runs.
TEST(History, AJobWhoseMasterIsSilentIsMarked) {
  cluster::ListedJob job = job_at("2026-01-31T11:00:00.000Z", job::JobState::kRunning);
  job.status.elapsed_ms = 18;
  EXPECT_THAT(job_table({job}, 0)[1].text(), testing::EndsWith("  18 ms  "));
  job.silence = "its master does not answer; as of 2026-01-31T11:30:00.000Z";
  EXPECT_THAT(job_table({job}, 0)[1].text(),
              testing::EndsWith("  ≥ 18 ms  its master does not answer; as of "
                                "2026-01-31T11:30:00.000Z"));
}

// A row had 4 KB, in a file or another program.
TEST(History, TheTableHasTheBeginOfALongMessage) {
  job::JobStatus status = job_at("2026-01-31T11:00:00.000Z", job::JobState::kFailed).status;
  status.cause = job::Cause{.task = job::TaskId{"worker", 0},
                            .why = {.reason = job::Reason::kExitStatus, .code = 1},
                            .traceback = "Traceback\nValueError: " + std::string(4000, 'x')};
  const std::string begin = "worker:0: ValueError: ";
  const std::string cause = begin + std::string(199 - begin.size(), 'x') + "…";
  EXPECT_THAT(job_table({{status}}, 0)[1].text(), testing::EndsWith("  " + cause));
  EXPECT_EQ(to_json({{status}})[0]["cause"]["traceback"], status.cause->traceback);
  cluster::ListedJob damaged{status};
  damaged.unreadable = std::string(4000, 'y');
  EXPECT_THAT(job_table({damaged}, 0)[1].text(),
              testing::EndsWith("  " + std::string(199, 'y') + "…"));
}

TEST(History, HowLongALostJobLivedIsNotKnown) {
  job::JobStatus lost = job_at("2026-01-31T11:00:00.000Z", job::JobState::kLost).status;
  lost.elapsed_ms = 18;
  EXPECT_THAT(job_table({{lost}}, 0)[1].text(), HasSubstr("  ≥ 18 ms  "));
}

// It had three of 80 columns.
TEST(History, ANarrowTerminalShowsTheCauseFirst) {
  job::JobStatus failed = job_at("2026-01-31T11:00:00.000Z", job::JobState::kFailed).status;
  failed.id = "wine-20260131-110000-abcd";
  failed.tasks.resize(4);
  const auto table_of = [&](std::size_t width) { return job_table({{failed}}, width); };
  EXPECT_THAT(table_of(80)[1].text(), HasSubstr("      4  2026-01-31T11:00:00  ")) << "no cause";
  failed.cause = job::Cause{.task = job::TaskId{"worker", 0},
                            .why = {.reason = job::Reason::kExitStatus, .code = 1},
                            .traceback = "Traceback\nValueError: the shape (3, 4) is not (3, 5)"};
  EXPECT_THAT(table_of(200)[1].text(),
              HasSubstr("  2026-01-31T11:00:00  0 ms  worker:0: ValueError: the shape (3, 4) is "
                        "not (3, 5) (status 1)"));
  EXPECT_THAT(table_of(95)[0].text(), HasSubstr("TASKS  AT (UTC)  "));
  EXPECT_THAT(table_of(95)[1].text(), HasSubstr("  01-31 11:00  "));
  EXPECT_EQ(table_of(80)[0].text(), "JOB                        STATE   TASKS  TIME  CAUSE");
  EXPECT_EQ(table_of(80)[1].text(),
            "wine-20260131-110000-abcd  failed      4  0 ms  worker:0: ValueError: the shape…");
}

}  // namespace

}  // namespace gangrun::cli
