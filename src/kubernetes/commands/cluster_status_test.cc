#include "kubernetes/commands/cluster_status.h"

#include <gtest/gtest.h>

#include "kubernetes/commands/test_namespace_internal.h"

namespace gangrun::kubernetes::commands {
namespace {

const base::WallTime kNow = *base::parse_iso8601("2026-01-31T12:30:00.000Z");

TEST(ClusterStatus, OfTheHeadAlone) {
  records::Head head = running_head();
  const job::JobStatus running = summary_of(head, kNow);
  EXPECT_EQ(running.id, kWine);
  EXPECT_EQ(running.name, "wine");
  EXPECT_EQ(running.state, job::JobState::kRunning);
  EXPECT_EQ(running.elapsed_ms, 30 * 60 * 1000);
  EXPECT_FALSE(running.cause.has_value());
  head.summary.state = "failed";
  head.summary.reason = "out_of_memory";
  head.summary.ended = "2026-01-31T12:10:00.000Z";
  const job::JobStatus failed = summary_of(head, kNow);
  EXPECT_EQ(failed.state, job::JobState::kFailed);
  EXPECT_EQ(failed.cause->why.reason, job::Reason::kOutOfMemory);
  EXPECT_EQ(failed.elapsed_ms, 10 * 60 * 1000);
  // No master has come yet.
  EXPECT_EQ(summary_of(records::Head{}, kNow).state, job::JobState::kAllocating);
}

TEST(ClusterStatus, AnEndThatNobodyToldIsAskedForOrALoss) {
  job::JobStatus last = succeeded();
  last.state = job::JobState::kRunning;
  last.ended.clear();
  last.waiting_for = "a master";
  job::TaskStatus running;
  running.state = job::TaskState::kRunning;
  last.tasks.push_back(running);
  const job::JobStatus killed = ended_unseen(last, "gangrun kill by alice", "gone", kNow);
  EXPECT_EQ(killed.state, job::JobState::kKilled);
  EXPECT_EQ(killed.cause->why.detail, "gangrun kill by alice");
  EXPECT_EQ(killed.tasks.at(0).state, job::TaskState::kSucceeded);
  EXPECT_EQ(killed.tasks.at(1).state, job::TaskState::kStopped);
  EXPECT_EQ(killed.ended, "2026-01-31T12:30:00.000Z");
  EXPECT_EQ(killed.waiting_for, "");
  const job::JobStatus lost = ended_unseen(last, "", "gone", kNow);
  EXPECT_EQ(lost.state, job::JobState::kLost);
  EXPECT_EQ(lost.cause->why.detail, "gone");
  EXPECT_EQ(lost.tasks.at(1).state, job::TaskState::kLost);
}

TEST(ClusterStatus, TasksWithoutAPlaceAreThoseOfTheJob) {
  job::JobStatus status;
  add_tasks(status, pods::test::wine_job().spec);
  ASSERT_EQ(status.tasks.size(), 2U);
  EXPECT_EQ(status.tasks.at(1).task, (job::TaskId{"worker", 1}));
  status.folder = "/gangrun/run/jobs/wine";
  status.tasks.at(0).log_path = "/gangrun/run/jobs/wine/logs/worker-0";
  const job::JobStatus seen = seen_from_here(status);
  EXPECT_EQ(seen.folder, "");
  EXPECT_EQ(seen.tasks.at(0).log_path, "");
}

}  // namespace
}  // namespace gangrun::kubernetes::commands
