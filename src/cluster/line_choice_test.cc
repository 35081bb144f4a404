#include "cluster/line_choice.h"

#include <gtest/gtest.h>

namespace gangrun::cluster {
namespace {

using Lines = std::vector<LogLine>;

const job::TaskId kWorker{"worker", 0};
const job::TaskId kPs{"ps", 0};

TEST(LineChoice, ByTaskAndStream) {
  EXPECT_TRUE(is_wanted({}, kPs, true));
  EXPECT_FALSE(is_wanted({.task = kWorker}, kPs, true));
  EXPECT_FALSE(is_wanted({.errors = false}, kPs, true));
  EXPECT_FALSE(is_wanted({.output = false}, kPs, false));
}

TEST(LineChoice, OfAProgressBarOnlyItsLastStateIsGiven) {
  const LogLine bar = log_line(kWorker, true, "10%\r");
  EXPECT_EQ(bar, (LogLine{kWorker, true, "10%", LineEnd::kRedrawn}));
  const LogLine newer = log_line(kWorker, true, "20%\r");
  const LogLine line = log_line(kWorker, true, "done");
  EXPECT_EQ(line, (LogLine{kWorker, true, "done"}));
  const LogLine beside = log_line(kWorker, false, "epoch 1");
  EXPECT_EQ(without_replaced({bar, beside, newer}), (Lines{beside, newer}));
  EXPECT_EQ(without_replaced({bar, newer, line, beside}), (Lines{line, beside}));
  EXPECT_EQ(without_replaced({line, line, bar}), (Lines{line, line, bar}));
}

TEST(LineChoice, TheTailIsOfEachStreamOfEachTask) {
  const Lines lines{{kPs, false, "1"},    {kWorker, false, "2"}, {kPs, false, "3"},
                    {kWorker, true, "4"}, {kPs, false, "5"},     {kPs, true, "6"}};
  const Lines expected{
      {kWorker, false, "2"}, {kWorker, true, "4"}, {kPs, false, "5"}, {kPs, true, "6"}};
  EXPECT_EQ(last_lines(lines, {.tail = 1}), expected);
  EXPECT_EQ(last_lines(lines, {}), lines);
  EXPECT_TRUE(last_lines(lines, {.tail = 0}).empty());
}

}  // namespace
}  // namespace gangrun::cluster
