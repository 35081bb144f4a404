#include "base/log_times.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

namespace gangrun::base {
namespace {

using std::chrono::milliseconds;

WallTime at_ms(std::int64_t ms) { return WallTime(milliseconds(1'769'860'800'000 + ms)); }

class LogTimesTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = std::filesystem::temp_directory_path().string() + "/log_times_XXXXXX";
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    log_ = name + "/worker-0.out";
  }
  void TearDown() override {
    std::filesystem::remove_all(std::filesystem::path(log_).parent_path());
  }
  [[nodiscard]] KnownTimes known() const {
    KnownTimes known(log_);
    known.read_on();
    return known;
  }
  [[nodiscard]] std::string file() const {
    std::ifstream in(log_ + ".times");
    return {std::istreambuf_iterator<char>(in), {}};
  }

  void write(const std::string& text) const { std::ofstream(log_, std::ios::app) << text; }

  std::string log_;
};

TEST_F(LogTimesTest, EachLineHasTheTimeAtWhichItsBeginningCame) {
  LogTimes times(log_);
  times.note(0, "one\ntwo\nthr", at_ms(0));
  times.note(11, "ee\nfour\n", at_ms(500));
  times.note(19, "five\n", at_ms(1'000));
  const KnownTimes found = known();
  EXPECT_EQ(found.at(0), at_ms(0));
  EXPECT_EQ(found.at(4), at_ms(0));
  EXPECT_EQ(found.at(8), at_ms(0)) << "its end came later";
  EXPECT_EQ(found.at(14), at_ms(500));
  EXPECT_EQ(found.at(19), at_ms(1'000));
  EXPECT_EQ(found.since(at_ms(1)), 14U);
  EXPECT_EQ(found.since(at_ms(501)), 19U);
  EXPECT_EQ(found.since(at_ms(1'001)), std::nullopt);
}

TEST_F(LogTimesTest, AFloodHasOneEntryInAWhile) {
  LogTimes times(log_);
  for (int i = 0; i < 1000; ++i) {
    times.note(static_cast<std::uint64_t>(i) * 5, "line\n", at_ms(i));
  }
  const std::string text = file();
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 10);
  times.note(5'000, "line\n", at_ms(-60'000));
  EXPECT_EQ(known().at(5'000), at_ms(-60'000)) << "its clock was set back";
}

TEST_F(LogTimesTest, AnotherRunGoesOnInTheSameLog) {
  LogTimes(log_).note(0, "first\nhal", at_ms(0));
  write("first\nhal");
  LogTimes second(log_);
  second.note(9, "f\nlast\n", at_ms(5'000));
  EXPECT_EQ(known().at(6), at_ms(0));
  EXPECT_EQ(known().at(11), at_ms(5'000));
}

// The first line of a run after a restart had the time of the run before.
TEST_F(LogTimesTest, AnotherRunsFirstLineHasItsOwnTime) {
  LogTimes(log_).note(0, "first\n", at_ms(0));
  write("first\n");
  LogTimes second(log_);
  second.note(6, "again\n", at_ms(5'000));
  write("again\n");
  EXPECT_EQ(known().at(0), at_ms(0));
  EXPECT_EQ(known().at(6), at_ms(5'000));
  EXPECT_EQ(known().since(at_ms(1)), 6U);
  // Also where another writer has written between.
  write("missing\n");
  second.note(20, "last\nof it\n", at_ms(9'000));
  EXPECT_EQ(known().at(12), at_ms(5'000));
  EXPECT_EQ(known().at(20), at_ms(9'000));
}

TEST_F(LogTimesTest, WhatIsNoEntryIsNone) {
  KnownTimes found(log_);
  found.read_on();
  EXPECT_TRUE(found.empty()) << "a log of before";
  EXPECT_EQ(found.at(0), std::nullopt);
  found.add("7 1000\nno\n1 2 3\n-1 5\n" + std::string(1 << 20, '9') + "\n12");
  found.add(" 2000\n");
  EXPECT_EQ(found.at(6), std::nullopt);
  EXPECT_EQ(found.at(7), WallTime(milliseconds(1000)));
  EXPECT_EQ(found.at(12), WallTime(milliseconds(2000)));
  found.add("0 9000\n");
  EXPECT_EQ(found.at(12), WallTime(milliseconds(9000))) << "the log began again";
}

}  // namespace
}  // namespace gangrun::base
