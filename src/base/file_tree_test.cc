#include "base/file_tree.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace gangrun::base {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class FileTreeTest : public testing::Test {
 protected:
  FileTreeTest() {
    std::string name = testing::TempDir() + "file-tree-XXXXXX";
    if (::mkdtemp(name.data()) != nullptr) top_ = name;
    fs::create_directories(top_ / "in/empty");
    std::ofstream(top_ / "outside") << "12345";
    fs::create_symlink("../outside", top_ / "in/link");
  }
  ~FileTreeTest() override { fs::remove_all(top_); }

  fs::path top_;
};

TEST_F(FileTreeTest, ALinkOutOfAFolderIsFollowedWhereItMay) {
  FileTree tree({});
  ASSERT_TRUE(tree.add("x", top_ / "in").ok());
  ASSERT_EQ(tree.entries().size(), 3U);
  EXPECT_TRUE(tree.entries().at("x/empty").is_folder);
  EXPECT_EQ(tree.entries().at("x/link").size, 5U);
  FileTree strict({.may_lead_out = false});
  EXPECT_THAT(strict.add("x", top_ / "in").error().message, HasSubstr("in/link leads out of"));
}

TEST_F(FileTreeTest, ACircleAndALinkToNowhereAreErrorsThatNameThePath) {
  fs::create_symlink("..", top_ / "in/empty/up");
  FileTree tree({});
  EXPECT_THAT(tree.add("x", top_ / "in").error().message, HasSubstr("leads in a circle"));
  fs::remove(top_ / "in/empty/up");
  fs::create_symlink("nowhere", top_ / "in/broken");
  FileTree other({});
  EXPECT_THAT(other.add("x", top_ / "in").error().message, HasSubstr("in/broken"));
}

// For ssh and pods there was no limit: a link to a data set was walked to its end.
TEST_F(FileTreeTest, MoreFilesThanTheLimitAreAnErrorThatNamesItWhateverThePlace) {
  EXPECT_EQ(FileTree::Limits().max_files, 100'000U);
  FileTree tree({.max_files = 2});
  const auto added = tree.add("x", top_ / "in");
  ASSERT_FALSE(added.ok());
  EXPECT_EQ(added.error().code, Code::kResourceExhausted);
  EXPECT_THAT(added.error().message, HasSubstr(top_ / "in"));
  EXPECT_THAT(added.error().message,
              HasSubstr("there are more than the 2 files and folders that are allowed"));
  FileTree enough({.max_files = 3});
  EXPECT_TRUE(enough.add("x", top_ / "in").ok());
}

}  // namespace
}  // namespace gangrun::base
