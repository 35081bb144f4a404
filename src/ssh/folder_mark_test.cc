#include "ssh/folder_mark.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace gangrun::ssh {
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

// It stayed where gangrun was killed during a login.
TEST_F(FolderMarkTest, TheNextOneRemovesWhatWasLeftAndNothingElse) {
  const std::string digits(32, 'a');
  const auto old = fs::file_time_type::clock::now() - std::chrono::minutes(11);
  const auto put = [&](const std::string& name, const char* text, mode_t mode, bool is_old) {
    std::ofstream(here_ / name) << text;
    EXPECT_EQ(::chmod((here_ / name).c_str(), mode), 0);
    if (is_old) fs::last_write_time(here_ / name, old);
  };
  const std::string left = ".gangrun-mark-" + digits;
  put(left, "", 0600, true);
  const std::vector<std::string> kept = {
      ".gangrun-mark-" + std::string(32, 'b'), ".gangrun-mark-" + std::string(32, 'c'),
      ".gangrun-mark-" + std::string(32, 'd'), ".gangrun-mark-notes", left + ".txt"};
  put(kept[0], "", 0600, false);
  put(kept[1], "a diary", 0600, true);
  put(kept[2], "", 0644, true);
  put(kept[3], "", 0600, true);
  put(kept[4], "", 0600, true);
  fs::create_symlink(kept[0], here_ / (".gangrun-mark-" + std::string(32, 'e')));
  const auto held = FolderMark::make(here_.string());
  ASSERT_TRUE(held.ok()) << held.error().message;
  EXPECT_FALSE(fs::exists(here_ / left));
  // A login may take long.
  fs::last_write_time(here_ / (*held)->name(), old);
  const auto next = FolderMark::make(here_.string());
  ASSERT_TRUE(next.ok()) << next.error().message;
  EXPECT_TRUE(has_mark(here_.string(), (*held)->name()));
  for (const std::string& name : kept) EXPECT_TRUE(fs::exists(here_ / name)) << name;
  EXPECT_TRUE(fs::is_symlink(here_ / (".gangrun-mark-" + std::string(32, 'e'))));
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
}  // namespace gangrun::ssh
