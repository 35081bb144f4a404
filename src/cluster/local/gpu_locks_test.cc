#include "cluster/local/gpu_locks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace gangrun::cluster {
namespace {

using testing::HasSubstr;

mode_t mode_of(const std::string& path) {
  struct stat found {};
  EXPECT_EQ(::lstat(path.c_str(), &found), 0) << path;
  return found.st_mode & 07777U;
}

class GpuLocks : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (std::filesystem::temp_directory_path() / "gpu-locks-XXXXXX").string();
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    above_ = pattern;
    folder_ = above_ + "/locks";
  }
  void TearDown() override { std::filesystem::remove_all(above_); }

  std::string above_;
  std::string folder_;
};

TEST_F(GpuLocks, TheFolderIsForAllAndNobodyTakesAwayWhatIsAnothers) {
  const mode_t before = ::umask(0077);
  const auto made = make_gpu_lock_folder(folder_);
  const base::UniqueFd lock = lock_gpu(folder_, 0);
  ::umask(before);
  ASSERT_TRUE(made.ok()) << made.error().message;
  EXPECT_EQ(mode_of(folder_), 01777U);
  ASSERT_TRUE(lock.valid());
  EXPECT_EQ(mode_of(folder_ + "/gpu-0.lock"), 0644U);
}

TEST_F(GpuLocks, AFolderOfOursThatOthersCouldEmptyIsMended) {
  std::filesystem::create_directory(folder_);
  ASSERT_EQ(::chmod(folder_.c_str(), 0777), 0);
  ASSERT_TRUE(make_gpu_lock_folder(folder_).ok());
  EXPECT_EQ(mode_of(folder_), 01777U);
}

TEST_F(GpuLocks, AFolderOfAnotherThatOthersCouldEmptyIsRefused) {
  const uid_t somebody_else = ::geteuid() + 1;
  std::filesystem::create_directory(folder_);
  ASSERT_EQ(::chmod(folder_.c_str(), 0777), 0);
  const auto made = make_gpu_lock_folder(folder_, somebody_else);
  ASSERT_FALSE(made.ok());
  EXPECT_THAT(made.error().message, HasSubstr("has mode 0777"));
  EXPECT_THAT(made.error().message, HasSubstr(std::to_string(::geteuid())));
  ASSERT_EQ(::chmod(folder_.c_str(), 01777), 0);
  EXPECT_TRUE(make_gpu_lock_folder(folder_, somebody_else).ok());
}

TEST_F(GpuLocks, ALinkInPlaceOfTheFolderIsRefused) {
  std::filesystem::create_directory(above_ + "/elsewhere");
  std::filesystem::create_symlink(above_ + "/elsewhere", folder_);
  const auto made = make_gpu_lock_folder(folder_);
  ASSERT_FALSE(made.ok());
  EXPECT_THAT(made.error().message, HasSubstr("is no folder"));
}

TEST_F(GpuLocks, OneLockAtATime) {
  ASSERT_TRUE(make_gpu_lock_folder(folder_).ok());
  base::UniqueFd first = lock_gpu(folder_, 3);
  ASSERT_TRUE(first.valid());
  EXPECT_FALSE(lock_gpu(folder_, 3).valid());
  EXPECT_TRUE(lock_gpu(folder_, 4).valid());
  first.reset();
  EXPECT_TRUE(lock_gpu(folder_, 3).valid());
}

TEST_F(GpuLocks, WhatIsPlantedInPlaceOfALockIsNotOpenedAndMakesNothing) {
  ASSERT_TRUE(make_gpu_lock_folder(folder_).ok());
  std::filesystem::create_symlink(above_ + "/victim", folder_ + "/gpu-0.lock");
  ASSERT_EQ(::mkfifo((folder_ + "/gpu-1.lock").c_str(), 0666), 0);
  EXPECT_FALSE(lock_gpu(folder_, 0).valid());
  EXPECT_FALSE(std::filesystem::exists(above_ + "/victim"));
  EXPECT_FALSE(lock_gpu(folder_, 1).valid());
}

}  // namespace
}  // namespace gangrun::cluster
