#include "cluster/yarn/line_filter.h"

#include <gtest/gtest.h>

namespace gangrun::cluster {
namespace {

const job::TaskId kPs{"ps", 0};
const job::TaskId kWorker{"worker", 1};

TEST(LineFilter, ByTaskAndStream) {
  EXPECT_TRUE(is_wanted({}, kPs, true));
  EXPECT_FALSE(is_wanted({.task = kWorker}, kPs, true));
  EXPECT_FALSE(is_wanted({.errors = false}, kPs, true));
  EXPECT_FALSE(is_wanted({.output = false}, kPs, false));
}

TEST(LineFilter, TheTailIsOfEachStreamOfEachTask) {
  const std::vector<LogLine> lines{{kPs, false, "1"},    {kWorker, false, "2"}, {kPs, false, "3"},
                                   {kWorker, true, "4"}, {kPs, false, "5"},     {kPs, true, "6"}};
  const std::vector<LogLine> expected{
      {kWorker, false, "2"}, {kWorker, true, "4"}, {kPs, false, "5"}, {kPs, true, "6"}};
  EXPECT_EQ(last_lines(lines, {.tail = 1}), expected);
  EXPECT_EQ(last_lines(lines, {}), lines);
  EXPECT_TRUE(last_lines(lines, {.tail = 0}).empty());
}

}  // namespace
}  // namespace gangrun::cluster
