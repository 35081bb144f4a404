#include "client/checks_view.h"

#include <gtest/gtest.h>

namespace gangrun::client {
namespace {

using cluster::Check;
using cluster::Verdict;

TEST(Checks, OneThatFailedIsEnough) {
  std::vector<Check> checks = {{"a", Verdict::kOk, "x"}, {"b", Verdict::kWarning, "y"}};
  EXPECT_TRUE(checks_json(checks)["can_run_jobs"]);
  checks.push_back({"c", Verdict::kFailed, "z"});
  const Lines lines = checks_lines(checks, "this machine", 0);
  ASSERT_EQ(lines.size(), 5U);
  EXPECT_EQ(lines[2].text(), "b     warning  y");
  EXPECT_EQ(lines[4].text(), "no job can run on this machine until the failed checks are fixed");
  EXPECT_FALSE(checks_json(checks)["can_run_jobs"]);
  EXPECT_EQ(checks_json(checks)["checks"][2]["verdict"], "failed");
}

// After an interrupt it said that jobs can run on these hosts.
TEST(Checks, ThoseThatWereInterruptedDoNotTellThatJobsCanRun) {
  std::vector<Check> checks = {{"gpu1", Verdict::kNotChecked, "it was not waited for"}};
  EXPECT_EQ(checks_lines(checks, "these hosts", 0, false).back().text(),
            "whether jobs can run on these hosts is not known: the checks were interrupted");
  EXPECT_TRUE(checks_json(checks, false)["can_run_jobs"].is_null());
  checks.push_back({"gpu2", Verdict::kFailed, "it is down"});
  EXPECT_EQ(checks_lines(checks, "these hosts", 0, false).back().text(),
            "no job can run on these hosts until the failed checks are fixed");
  EXPECT_FALSE(checks_json(checks, false)["can_run_jobs"]);
}

TEST(Checks, WhatIsToBeDoneIsNeverCut) {
  const Lines lines =
      checks_lines({{"queue", Verdict::kFailed, "there is no queue ml", "name one with --queue"}},
                   "the cluster", 24);
  ASSERT_EQ(lines.size(), 7U);
  EXPECT_EQ(lines[1].width(), 24U);
  EXPECT_EQ(lines[3].text(), "queue: there is no queue ml");
  EXPECT_EQ(lines[4].text(), "  to do: name one with --queue");
}

// Its sentence may be all that says what to do.
TEST(Checks, AFailureThatWasCutIsToldWhole) {
  const std::vector<Check> checks = {
      {"gpu1", Verdict::kFailed, "the key of host gpu1 is not known"},
      {"gpu2", Verdict::kOk, "a sentence that is cut and is well"}};
  const Lines lines = checks_lines(checks, "these hosts", 24);
  ASSERT_EQ(lines.size(), 7U);
  EXPECT_EQ(lines[4].text(), "gpu1: the key of host gpu1 is not known");
  EXPECT_EQ(checks_lines(checks, "these hosts", 0).size(), 4U);
}

}  // namespace
}  // namespace gangrun::client
