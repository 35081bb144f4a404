#include "ssh/node/incoming_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <sstream>

namespace gangrun::ssh::node {
namespace {

namespace fs = std::filesystem;

class IncomingFileTest : public testing::Test {
 protected:
  IncomingFileTest() {
    std::string text = "/tmp/gangrun-incoming-XXXXXX";
    folder_ = ::mkdtemp(text.data());
  }
  ~IncomingFileTest() override { fs::remove_all(folder_); }

  std::string folder_;
  IncomingFile file_;
};

TEST_F(IncomingFileTest, ComesInParts) {
  ASSERT_TRUE(file_.begin(folder_, {.name = "a/b", .size = 6, .is_executable = true}).ok());
  ASSERT_TRUE(file_.add("abc").ok());
  EXPECT_FALSE(file_.begin(folder_, {.name = "c"}).ok()) << "the first is not whole";
  ASSERT_TRUE(file_.add("def").ok());
  EXPECT_FALSE(file_.add("g").ok());
  std::ostringstream content;
  content << std::ifstream(folder_ + "/a/b").rdbuf();
  EXPECT_EQ(content.str(), "abcdef");
  EXPECT_EQ(fs::status(folder_ + "/a/b").permissions(), fs::perms::owner_all);
}

TEST_F(IncomingFileTest, MayBeAFolder) {
  ASSERT_TRUE(file_.begin(folder_, {.name = "logs/empty", .is_folder = true}).ok());
  EXPECT_TRUE(fs::is_directory(folder_ + "/logs/empty"));
  ASSERT_TRUE(file_.begin(folder_, {.name = "logs/file"}).ok());
  EXPECT_TRUE(fs::is_regular_file(folder_ + "/logs/file"));
}

TEST_F(IncomingFileTest, StaysInItsFolder) {
  for (const char* name : {"", "/etc/x", "../x", "a/../../x"}) {
    EXPECT_FALSE(file_.begin(folder_, {.name = name}).ok()) << name;
  }
}

}  // namespace
}  // namespace gangrun::ssh::node
