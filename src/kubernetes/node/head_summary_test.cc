#include "kubernetes/node/head_summary.h"

#include <gtest/gtest.h>

#include "base/test_deadline.h"
#include "kubernetes/pods/manifests_for_tests.h"

namespace gangrun::kubernetes::node {
namespace {

job::JobStatus running() {
  job::JobStatus status;
  status.name = "wine";
  status.state = job::JobState::kRunning;
  status.submitted = "2026-01-31T12:00:00.000Z";
  return status;
}

TEST(HeadSummary, SaysWhatListsShow) {
  const job::JobSpec spec = pods::test::wine_job().spec;
  job::JobStatus status = running();
  records::HeadSummary summary = summary_of(spec, status, "alice", {});
  EXPECT_EQ(summary, (records::HeadSummary{.name = "wine",
                                           .user = "alice",
                                           .state = "running",
                                           .submitted = "2026-01-31T12:00:00.000Z",
                                           .tasks = 2}));
  status.all_started_ms = 1500;
  EXPECT_EQ(summary_of(spec, status, "alice", {}).started, "2026-01-31T12:00:01.500Z");
}

// Lines of a task may hold anything.
TEST(HeadSummary, HasTheReasonAndNoSentence) {
  job::JobStatus status = running();
  status.state = job::JobState::kFailed;
  status.ended = "2026-01-31T12:10:00.000Z";
  status.cause = job::Cause{.why = {.reason = job::Reason::kOutOfMemory, .detail = "the secret"}};
  const base::WallTime until = base::parse_iso8601("2026-01-31T13:10:00.000Z").value();
  const records::HeadSummary summary =
      summary_of(pods::test::wine_job().spec, status, "alice", until);
  EXPECT_EQ(summary.reason, "out_of_memory");
  EXPECT_EQ(summary.ended, "2026-01-31T12:10:00.000Z");
  EXPECT_EQ(summary.kept_until, "2026-01-31T13:10:00.000Z");
}

TEST(SummaryPace, TellsTheFirstChangeSoonAndOthersTogether) {
  net::EventLoop loop;
  int told = 0;
  constexpr std::chrono::milliseconds kPause{300};
  SummaryPace pace(
      loop, [&] { ++told; }, kPause);
  pace.changed();
  EXPECT_EQ(told, 0) << "from inside the call";
  ASSERT_TRUE(loop.run_until([&] { return told == 1; }, base::soon()));
  const base::Instant first = loop.now();
  for (int i = 0; i < 100; ++i) pace.changed();
  ASSERT_TRUE(loop.run_until([&] { return told == 2; }, base::soon()));
  EXPECT_GE(loop.now() - first, kPause - std::chrono::milliseconds(100));
}

}  // namespace
}  // namespace gangrun::kubernetes::node
