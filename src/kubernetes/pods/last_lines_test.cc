#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kubernetes/pods/pod_runs.h"

namespace gangrun::kubernetes::pods {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;

TEST(LastLines, AFailureHasThemAndItsTraceback) {
  LastLines kept;
  for (int line = 0; line < 30; ++line) kept.add("line " + std::to_string(line));
  kept.add("Traceback (most recent call last):");
  kept.add("  File \"t.py\", line 1, in <module>");
  kept.add("ValueError: no");
  const job::ExitReport completed = kept.completed({});
  EXPECT_THAT(completed.last_lines, SizeIs(job::kLastLines));
  EXPECT_EQ(completed.last_lines.back(), "ValueError: no");
  EXPECT_TRUE(completed.has_both_streams);
  EXPECT_THAT(completed.traceback, HasSubstr("ValueError: no"));
  EXPECT_THAT(completed.traceback, Not(HasSubstr("line 29")));
}

TEST(LastLines, KeepNoMoreThanATracebackNeeds) {
  LastLines kept;
  for (int line = 0; line < 2000; ++line) kept.add(std::string(1000, 'x'));
  kept.add("last");
  EXPECT_EQ(kept.completed({}).last_lines.back(), "last");
  EXPECT_THAT(LastLines().completed({}).last_lines, SizeIs(0));
}

}  // namespace
}  // namespace gangrun::kubernetes::pods
