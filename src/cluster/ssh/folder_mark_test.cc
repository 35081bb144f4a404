#include "cluster/ssh/folder_mark.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace gangrun::cluster {
namespace {

namespace fs = std::filesystem;

class FolderMarkTest : public testing::Test {
 protected:
  FolderMarkTest() { fs::create_directories(here_); }
  ~FolderMarkTest() override { fs::remove_all(top_); }

  const fs::path top_ =
      fs::path(testing::TempDir()) /
      ("mark-" + std::string(testing::UnitTest::GetInstance()->current_test_info()->name()));
  const fs::path here_ = top_ / "here";
};

// Inode and time of change were compared once, at different moments.
TEST_F(FolderMarkTest, IsFoundInAFolderInWhichOthersMakeAndRemoveFiles) {
  const auto mark = FolderMark::make(here_.string());
  ASSERT_TRUE(mark.ok()) << mark.error().message;
  std::ofstream(here_ / "x") << "checkpoint";
  fs::remove(here_ / "x");
  EXPECT_TRUE(has_mark(here_.string(), (*mark)->name()));
}

// Hosts that are made from one image have the same inodes and the same times.
TEST_F(FolderMarkTest, IsNotInACopyOfTheFolder) {
  fs::copy(here_, top_ / "copy", fs::copy_options::recursive);
  const auto mark = FolderMark::make(here_.string());
  ASSERT_TRUE(mark.ok()) << mark.error().message;
  EXPECT_FALSE(has_mark((top_ / "copy").string(), (*mark)->name()));
}

TEST_F(FolderMarkTest, LeavesNothingAndHasAnotherNameTheNextTime) {
  std::string first;
  {
    const auto mark = FolderMark::make(here_.string());
    ASSERT_TRUE(mark.ok()) << mark.error().message;
    first = (*mark)->name();
  }
  EXPECT_TRUE(fs::is_empty(here_));
  const auto mark = FolderMark::make(here_.string());
  ASSERT_TRUE(mark.ok()) << mark.error().message;
  EXPECT_NE((*mark)->name(), first);
}

TEST_F(FolderMarkTest, NothingElseIsAMark) {
  std::ofstream(here_ / "train.py") << "";
  std::ofstream(top_ / ".gangrun-mark-1") << "";
  fs::create_symlink("/", here_ / ".gangrun-mark-2");
  for (const char* name : {"", "train.py", "../.gangrun-mark-1", ".gangrun-mark-2"}) {
    EXPECT_FALSE(has_mark(here_.string(), name)) << name;
  }
}

TEST_F(FolderMarkTest, AFolderThatCannotBeMarkedIsNamed) {
  const auto mark = FolderMark::make((top_ / "nowhere").string());
  ASSERT_FALSE(mark.ok());
  EXPECT_THAT(mark.error().message, testing::HasSubstr("nowhere: No such file or directory"));
}

}  // namespace
}  // namespace gangrun::cluster
