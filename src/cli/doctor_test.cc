#include "cli/doctor.h"

#include <gtest/gtest.h>

namespace gangrun::cli {
namespace {

using Grade = Finding::Grade;

TEST(Findings, OneBadOneIsEnough) {
  std::vector<Finding> findings = {{"a", Grade::kGood, "x"}, {"b", Grade::kLimited, "y"}};
  EXPECT_TRUE(can_run_jobs(findings));
  EXPECT_TRUE(findings_json(findings)["can_run_jobs"]);
  findings.push_back({"c", Grade::kBad, "z"});
  EXPECT_FALSE(can_run_jobs(findings));
  const Lines lines = findings_lines(findings, 0);
  ASSERT_EQ(lines.size(), 5U);
  EXPECT_EQ(lines[2].text(), "b     limited  y");
  EXPECT_EQ(lines[4].text(), "no job can run on this machine until what is bad is mended");
  EXPECT_EQ(findings_json(findings)["findings"][2]["grade"], "bad");
}

}  // namespace
}  // namespace gangrun::cli
