#include "cluster/fetched_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "base/test_folder.h"

namespace gangrun::cluster {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class FetchedFilesTest : public testing::Test {
 protected:
  void write(const std::string& bytes) const { std::ofstream(path()) << bytes; }
  [[nodiscard]] std::string path() const { return folder_ / "data"; }

  base::TestFolder folder_;
};

TEST_F(FetchedFilesTest, ArePartsOfWhatWasLookedAt) {
  write("0123456789");
  const auto file = look_at("in/data", path(), true);
  ASSERT_TRUE(file.ok()) << file.error().message;
  EXPECT_EQ(file->name, "in/data");
  EXPECT_EQ(file->size, 10U);
  EXPECT_TRUE(file->is_executable);
  EXPECT_EQ(read_part(*file, 0, 10).value(), "0123456789");
  EXPECT_EQ(read_part(*file, 4, 3).value(), "456");
  EXPECT_EQ(read_part(*file, 10, 0).value(), "");
  EXPECT_EQ(bytes_of({*file, *file}), 20U);
}

TEST_F(FetchedFilesTest, AChangedFileIsNamed) {
  write("0123456789");
  const auto file = look_at("data", path(), false);
  ASSERT_TRUE(file.ok());
  // It has the same size and was written in place: only its time tells.
  write("abcdefghij");
  fs::last_write_time(path(), fs::last_write_time(path()) + std::chrono::seconds(1));
  const auto read = read_part(*file, 0, 10);
  ASSERT_FALSE(read.ok());
  EXPECT_EQ(read.error().code, base::Code::kFailedPrecondition);
  EXPECT_EQ(read.error().message, path() + " has changed since the job was started");
}

TEST_F(FetchedFilesTest, ACutReplacedOrRemovedFileIsNamed) {
  write("0123456789");
  const auto file = look_at("data", path(), false);
  ASSERT_TRUE(file.ok());
  const auto time = fs::last_write_time(path());
  const auto error = [&] { return read_part(*file, 8, 2).error().message; };
  fs::resize_file(path(), 9);
  fs::last_write_time(path(), time);
  EXPECT_THAT(error(), HasSubstr("has changed"));
  fs::rename(path(), folder_ / "old");
  EXPECT_THAT(error(), HasSubstr(path()));
  write("0123456789");
  fs::last_write_time(path(), time);
  EXPECT_THAT(error(), HasSubstr("has changed")) << "another file";
}

TEST_F(FetchedFilesTest, WhatIsNoFileIsNotLookedAt) {
  ASSERT_EQ(::mkfifo(path().c_str(), 0600), 0);
  EXPECT_THAT(look_at("data", path(), false).error().message, HasSubstr(path()));
}

}  // namespace
}  // namespace gangrun::cluster
