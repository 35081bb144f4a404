#include "ssh/host_records.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace gangrun::ssh {
namespace {

namespace fs = std::filesystem;
using testing::IsEmpty;

class HostRecordsTest : public testing::Test {
 protected:
  HostRecordsTest() { fs::create_directories(top_); }
  ~HostRecordsTest() override { fs::remove_all(top_); }

  const fs::path top_ =
      fs::path(testing::TempDir()) /
      ("records-" + std::string(testing::UnitTest::GetInstance()->current_test_info()->name()));
  const std::string path_ = (top_ / "hosts.json").string();
};

TEST_F(HostRecordsTest, ComeBack) {
  const std::vector<HostRecord> records = {
      {"gpu1", "wine-1-ab", "/home/ann/c/wine-1-ab", false},
      {"gpu2", "wine-1-cd", "/tmp/wine-1-cd", true},
      {"gpu3",
       "wine-1-ef",
       "/tmp/wine-1-ef",
       false,
       Rest::kOverLimit,
       std::uint64_t{1} << 40U,
       {"model/"}},
      {"gpu4", "wine-1-01", "/tmp/wine-1-01", false, Rest::kNothing, 0, {}, "\"p\" (a FIFO)"}};
  ASSERT_TRUE(write_host_records(path_, records).ok());
  const auto again = read_host_records(path_);
  ASSERT_TRUE(again.ok()) << again.error().message;
  EXPECT_EQ(*again, records);
}

TEST_F(HostRecordsTest, OfAnOlderVersionAllMayBeThere) {
  std::ofstream(path_)
      << R"([{"host": "a", "run_folder": "b", "path": "/b", "works_here": false}])";
  const auto read = read_host_records(path_);
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(read->front().rest, Rest::kAll);
}

TEST_F(HostRecordsTest, WithoutAnyThereIsNoFile) {
  EXPECT_THAT(*read_host_records(path_), IsEmpty());
  ASSERT_TRUE(write_host_records(path_, {{"gpu1", "a", "/a", false}}).ok());
  ASSERT_TRUE(write_host_records(path_, {}).ok());
  EXPECT_TRUE(fs::is_empty(top_));
}

TEST_F(HostRecordsTest, OneAtATimeHasTheirLock) {
  {
    const auto first = lock_host_records(path_);
    ASSERT_TRUE(first.ok()) << first.error().message;
    EXPECT_TRUE(*first);
    EXPECT_FALSE(*lock_host_records(path_));
  }
  EXPECT_TRUE(*lock_host_records(path_));
  EXPECT_FALSE(lock_host_records((top_ / "none/hosts.json").string()).ok());
}

TEST_F(HostRecordsTest, WhatIsNoneIsNamed) {
  for (const char* text : {"{}", "[1]", "[{\"host\": \"a\"}]", "["}) {
    std::ofstream(path_) << text;
    EXPECT_FALSE(read_host_records(path_).ok()) << text;
  }
}

}  // namespace
}  // namespace gangrun::ssh
