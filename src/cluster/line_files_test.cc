#include "cluster/line_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "base/test_folder.h"
#include "base/test_log.h"

namespace gangrun::cluster {
namespace {

constexpr base::WallTime kWritten{std::chrono::seconds(1'769'860'800)};

TEST(LineFiles, EachStreamOfATaskHasItsFile) {
  const base::TestFolder folder;
  base::LogRecorder log;
  LineFiles files(log);
  const std::string prefix = folder.path() + "/worker-0";
  files.add(prefix, false, "one", kWritten);
  files.add(prefix, true, "two", kWritten);
  files.add(prefix, false, "three", kWritten);
  EXPECT_EQ(*base::read_file(prefix + ".out", 100), "one\nthree\n");
  EXPECT_EQ(*base::read_file(prefix + ".err", 100), "two\n");
}

TEST(LineFiles, TheTimesAreThoseOfThePlace) {
  const base::TestFolder folder;
  base::LogRecorder log;
  LineFiles files(log);
  const std::string prefix = folder.path() + "/worker-0";
  files.add(prefix, false, "one", kWritten);
  files.add(prefix, false, "two", kWritten + std::chrono::seconds(2));
  EXPECT_EQ(*base::read_file(prefix + ".out.times", 100), "0 1769860800000\n4 1769860802000\n");
}

TEST(LineFiles, AProgressBarIsOneLine) {
  const base::TestFolder folder;
  base::LogRecorder log;
  LineFiles files(log);
  const std::string prefix = folder.path() + "/worker-0";
  for (const char* line : {"10%\r", "90%\r", "done", "more"})
    files.add(prefix, true, line, kWritten);
  EXPECT_EQ(*base::read_file(prefix + ".err", 100), "10%\r90%\rdone\nmore\n");
}

TEST(LineFiles, WhoIsFullIsToldOnceAndItsLinesAreCounted) {
  const base::TestFolder folder;
  base::LogRecorder log;
  LineFiles files(log, {10, "ten is reached"});
  const std::string prefix = folder.path() + "/worker-0";
  EXPECT_EQ(files.add(prefix, false, "one", kWritten), std::nullopt);
  EXPECT_EQ(files.missing(), std::nullopt);
  EXPECT_EQ(files.add(prefix, false, "three four", kWritten), "ten is reached");
  EXPECT_EQ(files.add(prefix, false, "x", kWritten), std::nullopt);
  EXPECT_EQ(files.missing(prefix), "2 lines could not be kept: ten is reached");
  EXPECT_EQ(files.missing(folder.path() + "/worker-1"), std::nullopt);
  EXPECT_EQ(files.missing(), "2 lines of the tasks' output could not be kept");
}

TEST(LineFiles, AJobsLimitIsThatOfAFile) {
  job::JobSpec spec;
  EXPECT_EQ(line_limit(spec).bytes, kMaxLineFileBytes);
  EXPECT_EQ(line_limit(spec).reached, "the most that is kept (1 GiB) is reached");
  spec.log_limit_mib = 3;
  EXPECT_EQ(line_limit(spec).bytes, 3U << 20U);
  EXPECT_EQ(line_limit(spec).reached, "log_limit (3 MiB) is reached");
  spec.log_limit_mib = 1 << 20;
  EXPECT_EQ(line_limit(spec).bytes, kMaxLineFileBytes);
}

TEST(LineFiles, MoreTasksThanMayBeOpenHaveTheirs) {
  const base::TestFolder folder;
  base::LogRecorder log;
  LineFiles files(log);
  const auto prefix = [&](std::size_t i) { return folder.path() + "/w-" + std::to_string(i); };
  for (const char* line : {"a", "b"}) {
    for (std::size_t i = 0; i < kMaxOpenLineFiles + 3; ++i)
      files.add(prefix(i), false, line, kWritten);
  }
  EXPECT_EQ(*base::read_file(prefix(kMaxOpenLineFiles + 2) + ".out", 100), "a\nb\n");
}

TEST(LineFiles, ABoundIsKeptAndToldInTheFile) {
  const base::TestFolder folder;
  base::LogRecorder log;
  LineFiles files(log, {10, "ten is reached"});
  const std::string prefix = folder.path() + "/worker-0";
  for (int i = 0; i < 5; ++i) files.add(prefix, false, "1234", kWritten);
  EXPECT_EQ(*base::read_file(prefix + ".out", 100),
            "1234\n1234\ngangrun: ten is reached; what follows is not kept\n");
}

TEST(LineFiles, WhatCannotBeWrittenIsToldOnce) {
  base::LogRecorder log;
  LineFiles files(log);
  const base::TestFolder folder;
  const std::string prefix = folder.path() + "/none/worker-0";
  files.add(prefix, false, "one", kWritten);
  files.add(prefix, false, "two", kWritten);
  EXPECT_THAT(log.lines, testing::ElementsAre(testing::HasSubstr("output is missing")));
  EXPECT_EQ(files.missing(), "2 lines of the tasks' output could not be kept");
  EXPECT_EQ(files.missing(prefix), std::nullopt);
}

}  // namespace
}  // namespace gangrun::cluster
