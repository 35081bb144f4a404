#include "jobfile/table_words.h"

#include <gtest/gtest.h>

namespace gangrun::jobfile {
namespace {

// CAUSE was always "exited with status 1".
TEST(TableWords, HaveWhatTheTaskSaidLast) {
  job::Cause cause{.task = job::TaskId{"worker", 5},
                   .host = "host7",
                   .why = {.reason = job::Reason::kExitStatus, .code = 1},
                   .next = job::Follower{{"worker", 3}, std::chrono::seconds(41)}};
  EXPECT_EQ(table_words(cause), to_words(cause)) << "it has said nothing";
  cause.last_lines = {"reading", "train.sh: line 3: nvidia-smi: not found", "  "};
  EXPECT_EQ(table_words(cause), "worker:5: train.sh: line 3: nvidia-smi: not found (status 1)");
  cause.has_both_streams = true;
  EXPECT_EQ(table_words(cause), to_words(cause)) << "it may be no complaint";
  cause.traceback = "Traceback (most recent call last):\n  File \"t.py\", line 1\nValueError: no\n";
  EXPECT_EQ(table_words(cause), "worker:5: ValueError: no (status 1)");
  cause.why = {.reason = job::Reason::kOutOfMemory, .signal = 9};
  EXPECT_EQ(table_words(cause), to_words(cause)) << "that is not why";
}

}  // namespace
}  // namespace gangrun::jobfile
