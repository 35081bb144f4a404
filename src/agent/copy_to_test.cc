#include "agent/copy_to.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "base/files.h"
#include "base/test_folder.h"

namespace gangrun::agent {
namespace {

struct Copies : testing::Test {
  [[nodiscard]] std::string copy_of(const std::string& version) const {
    const auto copied = copy_agent(folder.path() + "/program", folder.path(), version);
    if (!copied.ok()) return copied.error().message;
    return base::read_file(copy, 100).value();
  }

  base::TestFolder folder;
  std::string copy = folder.path() + "/gangrun-agent";
};

TEST_F(Copies, AreForEveryUser) {
  ASSERT_TRUE(base::write_private_file(folder.path() + "/program", "runs").ok());
  EXPECT_EQ(copy_of(GANGRUN_VERSION), "runs");
  // The container may run once more.
  EXPECT_EQ(copy_of(GANGRUN_VERSION), "runs");
  struct stat about {};
  ASSERT_EQ(::stat(copy.c_str(), &about), 0);
  EXPECT_EQ(about.st_mode & 07777U, 0555U);
}

TEST_F(Copies, AreNotMadeForAnotherVersion) {
  ASSERT_TRUE(base::write_private_file(folder.path() + "/program", "runs").ok());
  EXPECT_EQ(copy_of("0.0.9"),
            "this image brings gangrun-agent " GANGRUN_VERSION
            ", and the job needs that of gangrun 0.0.9: agent_image has to be of the same "
            "release");
  EXPECT_EQ(base::read_file(copy, 100).error().code, base::Code::kNotFound);
}

TEST_F(Copies, AreNotMadeOfNothing) {
  EXPECT_NE(copy_of(GANGRUN_VERSION).find("/program"), std::string::npos);
}

}  // namespace
}  // namespace gangrun::agent
