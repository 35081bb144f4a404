#include "cluster/kubernetes/client/unpacking.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/files.h"
#include "process/engine.h"

namespace gangrun::client {
namespace {

namespace fs = std::filesystem;

class Unpacking : public testing::Test {
 protected:
  Unpacking() {
    fs::create_directories(top_ / "from" / "model");
    fs::create_directories(top_ / "to");
    std::ofstream(top_ / "from" / "model" / "weights") << "123";
  }
  ~Unpacking() override { fs::remove_all(top_); }

  // Of the folder "from", as `words` say.
  void pack(const std::vector<std::string>& words) {
    std::vector<std::string> argv = {"tar",     "--create",    "--file",
                                     archive(), "--directory", (top_ / "from").string()};
    argv.insert(argv.end(), words.begin(), words.end());
    const auto done = process::ask(argv, std::chrono::steady_clock::now() + base::seconds(60));
    ASSERT_TRUE(done.ok() && done->status == 0);
  }
  [[nodiscard]] std::string archive() const { return (top_ / "outputs.tar").string(); }

  const fs::path top_ =
      fs::path(testing::TempDir()) /
      ("unpacking-" + std::string(testing::UnitTest::GetInstance()->current_test_info()->name()));
};

TEST_F(Unpacking, GivesWhatWasPacked) {
  pack({"model"});
  const auto done = unpack_tar(archive(), (top_ / "to").string());
  ASSERT_TRUE(done.ok()) << done.error().message;
  EXPECT_EQ(*base::read_file((top_ / "to" / "model" / "weights").string(), 16), "123");
}

TEST_F(Unpacking, LeavesTheFolderForNothing) {
  pack({"--absolute-names", "--transform", "s,model/weights,../../escaped,", "model/weights"});
  (void)unpack_tar(archive(), (top_ / "to").string());
  EXPECT_FALSE(fs::exists(top_ / "escaped"));
  EXPECT_FALSE(fs::exists(top_.parent_path() / "escaped"));
}

TEST_F(Unpacking, WhatIsNoArchiveIsToldWithTheProgramsWords) {
  std::ofstream(archive()) << std::string(2000, 'x');
  const auto done = unpack_tar(archive(), (top_ / "to").string());
  ASSERT_FALSE(done.ok());
  EXPECT_EQ(done.error().code, base::Code::kDataLoss);
  EXPECT_THAT(done.error().message, testing::HasSubstr("tar"));
}

}  // namespace
}  // namespace gangrun::client
