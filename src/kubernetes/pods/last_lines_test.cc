#include "kubernetes/pods/last_lines.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gangrun::kubernetes::pods {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;

const job::TaskId kWorker{"worker", 1};

TEST(LastLines, AFailureHasThemAndItsTraceback) {
  LastLines kept;
  for (int line = 0; line < 30; ++line) kept.add(kWorker, "line " + std::to_string(line));
  kept.add(kWorker, "Traceback (most recent call last):");
  kept.add(kWorker, "  File \"t.py\", line 1, in <module>");
  kept.add(kWorker, "ValueError: no");
  const job::ExitReport completed = kept.completed(kWorker, {});
  EXPECT_THAT(completed.last_lines, SizeIs(job::kLastLines));
  EXPECT_EQ(completed.last_lines.back(), "ValueError: no");
  EXPECT_TRUE(completed.has_both_streams);
  EXPECT_THAT(completed.traceback, HasSubstr("ValueError: no"));
  EXPECT_THAT(completed.traceback, Not(HasSubstr("line 29")));
}

TEST(LastLines, KeepNoMoreThanATracebackNeeds) {
  LastLines kept;
  for (int line = 0; line < 2000; ++line) kept.add(kWorker, std::string(1000, 'x'));
  kept.add(kWorker, "last");
  EXPECT_EQ(kept.completed(kWorker, {}).last_lines.back(), "last");
  kept.forget(kWorker);
  EXPECT_THAT(kept.completed(kWorker, {}).last_lines, SizeIs(0));
}

}  // namespace
}  // namespace gangrun::kubernetes::pods
