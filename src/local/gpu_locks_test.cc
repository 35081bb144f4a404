#include "local/gpu_locks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace gangrun::local {
namespace {

using testing::HasSubstr;

mode_t mode_of(const std::string& path) {
  struct stat found {};
  EXPECT_EQ(::lstat(path.c_str(), &found), 0) << path;
  return found.st_mode & 07777U;
}

job::Gpu gpu(const std::string& name) { return {name, name, "", ""}; }

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
  const std::vector<base::UniqueFd> locks = lock_gpu(folder_, gpu("GPU-1"));
  ::umask(before);
  ASSERT_TRUE(made.ok()) << made.error().message;
  EXPECT_EQ(mode_of(folder_), 01777U);
  ASSERT_EQ(locks.size(), 1U);
  EXPECT_EQ(mode_of(folder_ + "/GPU-1"), 0644U);
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
  EXPECT_THAT(made.error().message, HasSubstr("is not a folder"));
}

TEST_F(GpuLocks, OneLockAtATime) {
  ASSERT_TRUE(make_gpu_lock_folder(folder_).ok());
  std::vector<base::UniqueFd> first = lock_gpu(folder_, gpu("GPU-1"));
  ASSERT_FALSE(first.empty());
  EXPECT_TRUE(lock_gpu(folder_, gpu("GPU-1")).empty());
  EXPECT_FALSE(lock_gpu(folder_, gpu("GPU-2")).empty());
  first.clear();
  EXPECT_FALSE(lock_gpu(folder_, gpu("GPU-1")).empty());
}

TEST_F(GpuLocks, PartsShareTheirGpuAndNobodyHasTheWhole) {
  ASSERT_TRUE(make_gpu_lock_folder(folder_).ok());
  const job::Gpu whole = gpu("GPU-1");
  const job::Gpu part{"MIG-1", "MIG-1", "GPU-1", ""};
  const job::Gpu other_part{"MIG-2", "MIG-2", "GPU-1", ""};
  {
    const auto first = lock_gpu(folder_, part);
    const auto second = lock_gpu(folder_, other_part);
    EXPECT_EQ(first.size(), 2U);
    EXPECT_EQ(second.size(), 2U);
    EXPECT_TRUE(lock_gpu(folder_, part).empty());
    EXPECT_TRUE(lock_gpu(folder_, whole).empty());
  }
  const auto all = lock_gpu(folder_, whole);
  EXPECT_FALSE(all.empty());
  EXPECT_TRUE(lock_gpu(folder_, part).empty());
}

TEST_F(GpuLocks, WhatIsPlantedInPlaceOfALockIsNotOpenedAndMakesNothing) {
  ASSERT_TRUE(make_gpu_lock_folder(folder_).ok());
  std::filesystem::create_symlink(above_ + "/victim", folder_ + "/GPU-0");
  ASSERT_EQ(::mkfifo((folder_ + "/GPU-1").c_str(), 0666), 0);
  EXPECT_TRUE(lock_gpu(folder_, gpu("GPU-0")).empty());
  EXPECT_FALSE(std::filesystem::exists(above_ + "/victim"));
  EXPECT_TRUE(lock_gpu(folder_, gpu("GPU-1")).empty());
}

}  // namespace
}  // namespace gangrun::local
