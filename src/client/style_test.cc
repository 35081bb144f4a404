#include "client/style.h"

#include <gtest/gtest.h>

namespace gangrun::client {
namespace {

TEST(Line, IsTextWithoutColour) {
  Line line("state: ");
  line.add("failed", Paint::kRed);
  EXPECT_EQ(line.text(), "state: failed");
  EXPECT_EQ(line.to_terminal(false), "state: failed");
  EXPECT_EQ(line.to_terminal(true), "state: \x1b[31mfailed\x1b[0m");
  EXPECT_EQ(line.width(), 13U);
}

TEST(Line, IsCutAcrossItsSpansAndSaysSo) {
  Line line("abc", Paint::kRed);
  line.add("def").add("ghi", Paint::kBold);
  EXPECT_EQ(line.cut_to(9).text(), "abcdefghi");
  EXPECT_EQ(line.cut_to(8).text(), "abcdefg…");
  EXPECT_EQ(line.cut_to(6).text(), "abcde…");
  EXPECT_EQ(line.cut_to(3).text(), "ab…");
  EXPECT_EQ(line.cut_to(1).text(), "…");
  EXPECT_EQ(line.cut_to(0).text(), "");
  for (std::size_t width = 0; width < 10; ++width) EXPECT_LE(line.cut_to(width).width(), width);
}

TEST(Table, AlignsAndCuts) {
  const std::vector<Column> columns = {{"TASK"}, {"PID", true}, {"LINE"}};
  const std::vector<std::vector<Span>> rows = {{{"worker:0"}, {"7"}, {"a long last line"}},
                                               {{"ps:0"}, {"12345"}, {""}}};
  const Lines all = table(columns, rows, 0);
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all[0].text(), "TASK        PID  LINE");
  EXPECT_EQ(all[1].text(), "worker:0      7  a long last line");
  EXPECT_EQ(all[2].text(), "ps:0      12345  ");
  for (const Line& line : table(columns, rows, 20)) EXPECT_LE(line.width(), 20U);
  EXPECT_EQ(table(columns, rows, 20)[1].text(), "worker:0      7  a …");
}

TEST(PaintOfType, IsStable) {
  EXPECT_EQ(paint_of_type("worker"), paint_of_type("worker"));
  EXPECT_NE(paint_of_type("worker"), paint_of_type("ps"));
  EXPECT_NE(paint_of_type("anything"), Paint::kNone);
}

}  // namespace
}  // namespace gangrun::client
