#include "cli/log_lines.h"

#include <gtest/gtest.h>

#include "base/json.h"
#include "cli/test_context.h"

namespace gangrun::cli {
namespace {

const std::vector<cluster::LogLine> kLines = {{{"worker", 0}, false, "one"},
                                              {{"ps", 0}, true, "\x1b[1mtwo"},
                                              {{"worker", 0}, false, "three\xff"}};

TEST(LogPrinter, WritesStreamsApartWithAlignedNames) {
  TestContext test;
  LogPrinter printer(test.context().console, {.prefix = true, .prefix_width = 8});
  printer.print(kLines);
  EXPECT_EQ(test.out(), "worker:0 | one\nworker:0 | three\uFFFD\n");
  EXPECT_EQ(test.err(), "ps:0     | two\n");
}

TEST(LogPrinter, OneTasksOutputStaysAsItIsInAFile) {
  TestContext test;
  LogPrinter printer(test.context().console, {.prefix = false});
  printer.print(kLines);
  EXPECT_EQ(test.out(), "one\nthree\xff\n");
  EXPECT_EQ(test.err(), "\x1b[1mtwo\n");
}

TEST(LogPrinter, NothingIsAddedToOneTasksOutput) {
  TestContext test;
  LogPrinter printer(test.context().console, {.prefix = false});
  const job::TaskId task{"worker", 0};
  printer.print({{task, false, "a", cluster::LineEnd::kGoesOn},
                 {task, false, "b"},
                 {task, false, "c", cluster::LineEnd::kNone}});
  EXPECT_EQ(test.out(), "ab\nc");
}

TEST(LogPrinter, JsonHasWholeLinesAndSaysWhatIsAPiece) {
  TestContext test;
  LogPrinter printer(test.context().console, {.json = true});
  const job::TaskId task{"worker", 0};
  const std::string text(500'000, 'x');
  printer.print({{task, false, text, cluster::LineEnd::kGoesOn}});
  const auto piece = base::parse_json(test.out(), 1'000'000);
  ASSERT_TRUE(piece.ok());
  EXPECT_EQ((*piece)["line"], text);
  EXPECT_EQ((*piece)["partial"], true);
}

TEST(LogPrinter, JsonIsAlwaysValid) {
  TestContext test;
  LogPrinter printer(test.context().console, {.prefix = true, .prefix_width = 8, .json = true});
  printer.print({kLines[2]});
  const auto json = base::parse_json(test.out(), 10'000);
  ASSERT_TRUE(json.ok());
  EXPECT_EQ((*json)["task"], "worker:0");
  EXPECT_EQ((*json)["stream"], "stdout");
  EXPECT_EQ((*json)["line"], "three\uFFFD");
  EXPECT_EQ((*json)["line"], "three\uFFFD");
  EXPECT_FALSE(json->contains("partial"));
}

}  // namespace
}  // namespace gangrun::cli
