#include "base/files.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>

namespace gangrun::base {
namespace {

constexpr std::size_t kFileLimit = 1 << 20;

class Files : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "gangrun-files-XXXXXX";
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  [[nodiscard]] std::string path(const std::string& name) const { return folder_ + "/" + name; }
  [[nodiscard]] static mode_t mode_of(const std::string& file) {
    struct stat info {};
    EXPECT_EQ(::stat(file.c_str(), &info), 0);
    return info.st_mode & 07777U;
  }
  [[nodiscard]] std::size_t entries() const {
    const std::filesystem::directory_iterator begin(folder_);
    return static_cast<std::size_t>(std::distance(begin, std::filesystem::directory_iterator()));
  }

  std::string folder_;
};

TEST_F(Files, ReadsBackWhatWasWrittenWhole) {
  std::string content(200'000, 'x');
  content += std::string("\0\n", 2);
  ASSERT_TRUE(write_file_atomically(path("a"), content, 0640).ok());
  const auto back = read_file(path("a"), kFileLimit);
  ASSERT_TRUE(back.ok()) << back.error().message;
  EXPECT_EQ(*back, content);
  EXPECT_EQ(mode_of(path("a")), 0640U);
  ASSERT_TRUE(write_file_atomically(path("a"), "new", 0600).ok());
  EXPECT_EQ(read_file(path("a"), kFileLimit).value_or(""), "new");
  EXPECT_EQ(mode_of(path("a")), 0600U);
  EXPECT_EQ(entries(), 1U);
}

TEST_F(Files, RefusesALargerFileByItsLimit) {
  ASSERT_TRUE(write_file_atomically(path("a"), "12345", 0600).ok());
  EXPECT_TRUE(read_file(path("a"), 5).ok());
  const auto large = read_file(path("a"), 4);
  ASSERT_FALSE(large.ok());
  EXPECT_EQ(large.error().code, Code::kResourceExhausted);
  EXPECT_EQ(large.error().message, path("a") + " is larger than the limit of 4 bytes");
  // A device says that it is empty and never ends.
  EXPECT_EQ(read_file("/dev/zero", 100'000).error().code, Code::kResourceExhausted);
}

TEST_F(Files, ErrorsNameThePath) {
  const auto missing = read_file(path("none"), kFileLimit);
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.error().code, Code::kNotFound);
  EXPECT_THAT(missing.error().message, testing::HasSubstr(path("none")));
  EXPECT_FALSE(read_file(folder_, kFileLimit).ok());
  const auto unwritable = write_file_atomically(path("none/a"), "x", 0600);
  ASSERT_FALSE(unwritable.ok());
  EXPECT_THAT(unwritable.error().message, testing::HasSubstr(path("none/a")));
}

TEST_F(Files, AFailedWriteLeavesTheOldFileAndNothingElse) {
  ASSERT_TRUE(make_folders(path("a/b"), 0700).ok());
  // The target is a folder that is not empty: the rename fails after the content was written.
  EXPECT_FALSE(write_file_atomically(path("a"), "x", 0600).ok());
  EXPECT_TRUE(std::filesystem::is_directory(path("a/b")));
  EXPECT_EQ(entries(), 1U);
}

TEST_F(Files, APrivateFileIsPrivateAndNew) {
  const mode_t old_mask = ::umask(0);
  const auto created = write_private_file(path("secret"), "x");
  ::umask(old_mask);
  ASSERT_TRUE(created.ok()) << created.error().message;
  EXPECT_EQ(mode_of(path("secret")), 0600U);
  const auto again = write_private_file(path("secret"), "y");
  ASSERT_FALSE(again.ok());
  EXPECT_EQ(again.error().code, Code::kAlreadyExists);
  EXPECT_EQ(read_file(path("secret"), kFileLimit).value_or(""), "x");
  ASSERT_EQ(::symlink(path("elsewhere").c_str(), path("link").c_str()), 0);
  EXPECT_FALSE(write_private_file(path("link"), "x").ok());
}

TEST_F(Files, MakesFoldersWithTheirParents) {
  EXPECT_TRUE(make_folders(path("a/b/c"), 0700).ok());
  EXPECT_TRUE(make_folders(path("a/b/c"), 0700).ok());
  EXPECT_TRUE(std::filesystem::is_directory(path("a/b/c")));
  ASSERT_TRUE(write_file_atomically(path("file"), "", 0600).ok());
  EXPECT_FALSE(make_folders(path("file"), 0700).ok());
  EXPECT_FALSE(make_folders(path("file/a"), 0700).ok());
}

TEST_F(Files, WriteAllReportsAFullDevice) {
  const UniqueFd full(::open("/dev/full", O_WRONLY | O_CLOEXEC));
  ASSERT_TRUE(full.valid());
  const auto written = write_all(full.get(), "x", "the log");
  ASSERT_FALSE(written.ok());
  EXPECT_EQ(written.error().code, Code::kResourceExhausted);
  EXPECT_THAT(written.error().message, testing::StartsWith("cannot write the log"));
}

TEST_F(Files, WhatADiskThatFillsUpTookIsKnown) {
  ::signal(SIGXFSZ, SIG_IGN);
  const UniqueFd file(::open(path("log").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit little{10, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &little), 0);
  std::string_view left = "more than ten bytes";
  const auto written = write_and_take(file.get(), left, "the log");
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  EXPECT_FALSE(written.ok());
  EXPECT_EQ(left, "ten bytes");
  EXPECT_EQ(read_file(path("log"), 100).value(), "more than ");
}

TEST_F(Files, AMemoryFileIsReadFromItsStartAndNotInherited) {
  const auto file = memory_file("certificate", "content");
  ASSERT_TRUE(file.ok()) << file.error().message;
  char buffer[16] = {};
  EXPECT_EQ(::read(file->get(), buffer, sizeof buffer), 7);
  EXPECT_STREQ(buffer, "content");
  EXPECT_NE(::fcntl(file->get(), F_GETFD) & FD_CLOEXEC, 0);
}

TEST(UniqueFdTest, ClosesOnceAndHandsOver) {
  int fds[2] = {-1, -1};
  ASSERT_EQ(::pipe2(fds, O_CLOEXEC), 0);
  UniqueFd reader(fds[0]);
  {
    UniqueFd writer(fds[1]);
    UniqueFd other = std::move(writer);
    EXPECT_FALSE(writer.valid());  // NOLINT: what is left behind is the point
    EXPECT_EQ(other.get(), fds[1]);
  }
  char byte = 0;
  EXPECT_EQ(::read(reader.get(), &byte, 1), 0);  // the only writer is closed
  const int released = reader.release();
  EXPECT_FALSE(reader.valid());
  EXPECT_EQ(::close(released), 0);
}

}  // namespace
}  // namespace gangrun::base
