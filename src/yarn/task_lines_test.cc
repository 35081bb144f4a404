#include "yarn/task_lines.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gangrun::yarn {
namespace {

using Lines = std::vector<cluster::LogLine>;

constexpr std::size_t kMiB = std::size_t{1} << 20U;
const job::TaskId kWorker{"worker", 0};

hadoop::AggregatedLog log_of(const std::string& file) { return {"n:1", "container_1", file, 0}; }

base::Result<> put(TaskLines& lines, const std::string& file, const std::string& text,
                   std::size_t piece = 3) {
  GANGRUN_ASSIGN(const bool wanted, lines.begin(log_of(file)));
  if (!wanted) return {};
  for (std::size_t at = 0; at < text.size(); at += piece) {
    GANGRUN_TRY(lines.content(std::string_view(text).substr(at, piece)));
  }
  return lines.end();
}

TEST(TaskLines, AreThoseOfTasksByTaskAndStream) {
  TaskLines lines({});
  EXPECT_TRUE(put(lines, "worker-0.out", "one\ntwo\n\nrest").ok());
  EXPECT_TRUE(put(lines, "stdout", "the master's\n").ok());
  EXPECT_TRUE(put(lines, "chief-0.err", "warning\n").ok());
  EXPECT_TRUE(put(lines, "worker-0.err", "failed\n").ok());
  EXPECT_TRUE(put(lines, "worker-0.out", "again\n").ok());
  EXPECT_TRUE(put(lines, "../x-1.out", "nothing\n").ok());
  EXPECT_EQ(lines.take(), (Lines{{{"chief", 0}, true, "warning"},
                                 {kWorker, false, "one"},
                                 {kWorker, false, "two"},
                                 {kWorker, false, ""},
                                 {kWorker, false, "rest"},
                                 {kWorker, true, "failed"},
                                 {kWorker, false, "again"}}));
}

TEST(TaskLines, HaveTheirTimesWhereTheContainerNotedThem) {
  const base::WallTime first{std::chrono::seconds(1'769'860'800)};
  const base::WallTime later = first + std::chrono::seconds(60);
  const auto lines_of = [](const cluster::LogRequest& request) {
    TaskLines lines(request);
    // Whichever comes first.
    EXPECT_TRUE(put(lines, "worker-0.out", "one\ntwo\n").ok());
    EXPECT_TRUE(put(lines, "worker-0.out.times", "0 1769860800000\n4 1769860860000\n").ok());
    EXPECT_TRUE(put(lines, "worker-0.err", "of before\n").ok());
    return lines.take();
  };
  EXPECT_EQ(lines_of({.times = true}),
            (Lines{{kWorker, false, "one", cluster::LineEnd::kNewline, first},
                   {kWorker, false, "two", cluster::LineEnd::kNewline, later},
                   {kWorker, true, "of before"}}));
  EXPECT_EQ(lines_of({.since = later}),
            (Lines{{kWorker, false, "two", cluster::LineEnd::kNewline, later},
                   {kWorker, true, "of before"}}));
  EXPECT_EQ(lines_of({.tail = 1, .since = first}).size(), 2U);
  EXPECT_EQ(lines_of({}).front().time, std::nullopt);
}

// All of it was kept before its end was known: a packed log of some megabytes took all memory.
TEST(TaskLines, ALineWithoutAnEndHasALimit) {
  TaskLines lines({}, kMiB);
  ASSERT_TRUE(*lines.begin(log_of("worker-0.out")));
  const std::string piece(kMiB / 4, 'x');
  base::Result<> put;
  int pieces = 0;
  while (put.ok() && pieces < 100) {
    put = lines.content(piece);
    ++pieces;
  }
  ASSERT_FALSE(put.ok());
  EXPECT_EQ(put.error().message, "the output is over 1 MiB; --tail or one task shows a part");
  EXPECT_LE(pieces, 5);
}

TEST(TaskLines, EmptyLinesHaveALimitToo) {
  TaskLines lines({}, kMiB);
  EXPECT_FALSE(put(lines, "worker-0.out", std::string(kMiB, '\n'), kMiB).ok());
}

TEST(TaskLines, OfATailOnlyThatIsKept) {
  constexpr std::size_t kMost = kMiB / 16;
  TaskLines lines({.tail = 2}, kMost);
  EXPECT_TRUE(put(lines, "worker-0.out", std::string(kMost, '\n') + "a\nb\nc\n", kMost).ok());
  EXPECT_TRUE(put(lines, "worker-0.err", "d\n").ok());
  EXPECT_EQ(lines.take(),
            (Lines{{kWorker, false, "b"}, {kWorker, false, "c"}, {kWorker, true, "d"}}));
}

}  // namespace
}  // namespace gangrun::yarn
