#include <gtest/gtest.h>

#include <vector>

#include "cluster/ssh/node/keeper.h"

namespace gangrun::node {
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
  EXPECT_TRUE(options->program.starts_with('/'));
}

TEST(KeeperOptions, HaveAFolderAndAName) {
  EXPECT_FALSE(options_from({"--name", "gpu1"}).ok());
  EXPECT_FALSE(options_from({"--folder", "base", "--name", "gpu1"}).ok());
  EXPECT_FALSE(options_from({"--folder", "/base"}).ok());
  EXPECT_FALSE(options_from({"--folder", "/base", "--name"}).ok());
  EXPECT_FALSE(options_from({"--folder", "/base", "--name", "gpu1", "--more", "1"}).ok());
}

}  // namespace
}  // namespace gangrun::node
