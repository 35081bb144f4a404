#include "kubernetes/commands/unpacking.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/files.h"
#include "process/engine.h"

namespace gangrun::kubernetes::commands {
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

  // Packs parts of the folder "from", as `words` say.
  void pack(const std::vector<std::string>& words) {
    std::vector<std::string> argv = {"tar",     "--create",    "--file",
                                     archive(), "--directory", (top_ / "from").string()};
    argv.insert(argv.end(), words.begin(), words.end());
    const auto done = process::ask(argv, std::chrono::steady_clock::now() + base::seconds(60));
    ASSERT_TRUE(done.ok() && done->status == 0);
  }
  [[nodiscard]] std::string archive() const { return (top_ / "outputs.tar").string(); }

  [[nodiscard]] mode_t mode_of(const std::string& name) const {
    struct stat info {};
    return ::lstat((top_ / name).c_str(), &info) == 0 ? info.st_mode & 07777U : 0;
  }

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

TEST_F(Unpacking, GivesNoRightsThatOnlyItsOwnMachineCouldGive) {
  const fs::path from = top_ / "from" / "model";
  fs::permissions(from / "weights", fs::perms::all | fs::perms::set_uid | fs::perms::set_gid);
  fs::permissions(from, fs::perms::all | fs::perms::set_gid | fs::perms::sticky_bit);
  std::ofstream(from / "closed") << "1";
  fs::permissions(from / "closed", fs::perms::none);
  pack({"--numeric-owner", "--owner=1234", "--group=1234", "model"});
  const auto done = unpack_tar(archive(), (top_ / "to").string());
  ASSERT_TRUE(done.ok()) << done.error().message;
  EXPECT_EQ(*done, "");
  EXPECT_EQ(mode_of("to"), 0755U);
  EXPECT_EQ(mode_of("to/model"), 0755U);
  EXPECT_EQ(mode_of("to/model/weights"), 0755U);
  EXPECT_EQ(mode_of("to/model/closed"), 0600U);
  struct stat info {};
  ASSERT_EQ(::lstat((top_ / "to" / "model" / "weights").c_str(), &info), 0);
  EXPECT_EQ(info.st_uid, ::geteuid());
}

TEST_F(Unpacking, LeavesOutWhatIsNoFileAndLinksThatLeadOut) {
  const fs::path from = top_ / "from" / "model";
  ASSERT_EQ(::mkfifo((from / "pipe").c_str(), 0600), 0);
  // Only root makes one; and only root's own tar makes it again.
  const bool has_device = ::mknod((from / "null").c_str(), S_IFCHR | 0666, makedev(1, 3)) == 0;
  fs::create_symlink("/etc/passwd", from / "away");
  fs::create_symlink("../..", from / "up");
  fs::create_symlink(".", from / "here");
  fs::create_symlink("here/../..", from / "round");
  fs::create_symlink("loop", from / "loop");
  fs::create_symlink("weights", from / "latest");
  fs::create_hard_link(from / "weights", from / "again");
  pack({"model"});
  const auto done = unpack_tar(archive(), (top_ / "to").string());
  ASSERT_TRUE(done.ok()) << done.error().message;
  EXPECT_THAT(*done, testing::HasSubstr(has_device ? "and 3 more" : "and 2 more"));
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(top_ / "to" / "model")) {
    names.push_back(entry.path().filename().string());
  }
  EXPECT_THAT(names, testing::UnorderedElementsAre("weights", "again", "latest", "here"));
}

// To copy it would fill a disk.
TEST_F(Unpacking, LeavesOutFilesOfHolesThatAreLargerThanTheArchive) {
  const fs::path from = top_ / "from" / "model";
  std::ofstream(from / "holes") << "1";
  fs::resize_file(from / "holes", std::uintmax_t{1} << 40U);
  pack({"--sparse", "model"});
  const auto done = unpack_tar(archive(), (top_ / "to").string());
  ASSERT_TRUE(done.ok()) << done.error().message;
  EXPECT_THAT(*done, testing::HasSubstr("model/holes"));
  EXPECT_FALSE(fs::exists(top_ / "to" / "model" / "holes"));
  EXPECT_TRUE(fs::exists(top_ / "to" / "model" / "weights"));
}

TEST_F(Unpacking, WhatIsNoArchiveIsToldAsThat) {
  std::ofstream(archive()) << std::string(2000, 'x');
  const auto done = unpack_tar(archive(), (top_ / "to").string());
  ASSERT_FALSE(done.ok());
  EXPECT_EQ(done.error().code, base::Code::kDataLoss);
}

TEST_F(Unpacking, AnArchiveThatBreaksOffIsToldWithTheProgramsWords) {
  std::ofstream(top_ / "from" / "model" / "large") << std::string(100'000, 'x');
  pack({"model"});
  fs::resize_file(archive(), 50'000);
  const auto done = unpack_tar(archive(), (top_ / "to").string());
  ASSERT_FALSE(done.ok());
  EXPECT_EQ(done.error().code, base::Code::kDataLoss);
  EXPECT_THAT(done.error().message, testing::HasSubstr("tar"));
}

TEST_F(Unpacking, AnArchiveOfNothingIsNothing) {
  std::ofstream(archive()) << std::string(10'240, '\0');
  const auto done = unpack_tar(archive(), (top_ / "to").string());
  EXPECT_TRUE(done.ok()) << done.error().message;
}

// It is small, and what it becomes may have no end.
TEST_F(Unpacking, WhatIsCompressedIsNotUnpacked) {
  pack({"--gzip", "model"});
  EXPECT_FALSE(unpack_tar(archive(), (top_ / "to").string()).ok());
  EXPECT_TRUE(fs::is_empty(top_ / "to"));
}

}  // namespace
}  // namespace gangrun::kubernetes::commands
