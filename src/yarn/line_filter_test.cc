#include "yarn/line_filter.h"

#include <gtest/gtest.h>

namespace gangrun::yarn {
namespace {

const job::TaskId kPs{"ps", 0};
const job::TaskId kWorker{"worker", 1};

TEST(LineFilter, ByTaskAndStream) {
  EXPECT_TRUE(is_wanted({}, kPs, true));
  EXPECT_FALSE(is_wanted({.task = kWorker}, kPs, true));
  EXPECT_FALSE(is_wanted({.errors = false}, kPs, true));
  EXPECT_FALSE(is_wanted({.output = false}, kPs, false));
}

TEST(LineFilter, OfAProgressBarOnlyItsLastStateIsGiven) {
  const cluster::LogLine bar = log_line(kWorker, true, "10%\r");
  EXPECT_EQ(bar, (cluster::LogLine{kWorker, true, "10%", cluster::LineEnd::kRedrawn}));
  const cluster::LogLine newer = log_line(kWorker, true, "20%\r");
  const cluster::LogLine line = log_line(kWorker, true, "done");
  EXPECT_EQ(line, (cluster::LogLine{kWorker, true, "done"}));
  const cluster::LogLine beside = log_line(kWorker, false, "epoch 1");
  using Lines = std::vector<cluster::LogLine>;
  EXPECT_EQ(without_replaced({bar, beside, newer}), (Lines{beside, newer}));
  EXPECT_EQ(without_replaced({bar, newer, line, beside}), (Lines{line, beside}));
  EXPECT_EQ(without_replaced({line, line, bar}), (Lines{line, line, bar}));
}

TEST(LineFilter, TheTailIsOfEachStreamOfEachTask) {
  const std::vector<cluster::LogLine> lines{{kPs, false, "1"}, {kWorker, false, "2"},
                                            {kPs, false, "3"}, {kWorker, true, "4"},
                                            {kPs, false, "5"}, {kPs, true, "6"}};
  const std::vector<cluster::LogLine> expected{
      {kWorker, false, "2"}, {kWorker, true, "4"}, {kPs, false, "5"}, {kPs, true, "6"}};
  EXPECT_EQ(last_lines(lines, {.tail = 1}), expected);
  EXPECT_EQ(last_lines(lines, {}), lines);
  EXPECT_TRUE(last_lines(lines, {.tail = 0}).empty());
}

}  // namespace
}  // namespace gangrun::yarn
