#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <vector>

#include "ssh/node/keeper.h"

namespace gangrun::ssh::node {
namespace {

base::Result<KeeperOptions> options_from(std::vector<std::string> words) {
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  return keeper_options_from(static_cast<int>(argv.size()), argv.data());
}

TEST(KeeperOptions, AreReadFromFlags) {
  const auto options = options_from({"--folder", "/base", "--name", "gpu1", "--containment",
                                     "cgroup", "--working-folder", "/home/me", "--mark",
                                     ".gangrun-mark-1", "--interface", "eth0"});
  ASSERT_TRUE(options.ok()) << options.error().message;
  EXPECT_EQ(options->folder, "/base");
  EXPECT_EQ(options->host, "gpu1");
  EXPECT_EQ(options->containment, "cgroup");
  EXPECT_EQ(options->working_folder, "/home/me");
  EXPECT_EQ(options->folder_mark, ".gangrun-mark-1");
  EXPECT_EQ(options->interface, "eth0");
  // Another program may be at its path when something is started.
  EXPECT_EQ(options->program, "/proc/self/exe");
}

// Another user may have renamed ours, and put one of his own there.
TEST(KeeperOptions, AnotherFolderAtThePathIsNotOurs) {
  namespace fs = std::filesystem;
  std::string text = "/tmp/gangrun-place-XXXXXX";
  const fs::path top = ::mkdtemp(text.data());
  const fs::path before = fs::current_path();
  fs::create_directory(top / "ours");
  fs::current_path(top / "ours");
  KeeperOptions options;
  options.folder = top / "ours";
  EXPECT_TRUE(check_place(options).ok());
  fs::rename(top / "ours", top / "away");
  EXPECT_FALSE(check_place(options).ok());
  fs::create_directory(top / "ours");
  const auto swapped = check_place(options);
  ASSERT_FALSE(swapped.ok());
  EXPECT_THAT(swapped.error().message, testing::HasSubstr(options.folder));
  fs::current_path(before);
  fs::remove_all(top);
}

TEST(KeeperOptions, HaveAFolderAndAName) {
  EXPECT_FALSE(options_from({"--name", "gpu1"}).ok());
  EXPECT_FALSE(options_from({"--folder", "base", "--name", "gpu1"}).ok());
  EXPECT_FALSE(options_from({"--folder", "/base"}).ok());
  EXPECT_FALSE(options_from({"--folder", "/base", "--name"}).ok());
  EXPECT_FALSE(options_from({"--folder", "/base", "--name", "gpu1", "--more", "1"}).ok());
}

}  // namespace
}  // namespace gangrun::ssh::node
