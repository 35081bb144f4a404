#include "base/output_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <string>

#include "base/files.h"
#include "base/format.h"

namespace gangrun::base {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::milliseconds kPatience(40);

class OutputFileTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "output_file_XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { fs::remove_all(folder_); }

  static Result<> write(const std::string& path, std::string_view text) {
    GANGRUN_ASSIGN(auto file, OutputFile::open(path, 0600, kPatience));
    GANGRUN_TRY(file.write(text));
    return file.commit();
  }
  [[nodiscard]] std::string at(const std::string& name) const { return (folder_ / name).string(); }
  static std::string content(const std::string& path) {
    return read_file(path, 1000).value_or("(cannot be read)");
  }
  [[nodiscard]] std::ptrdiff_t entries() const {
    return std::distance(fs::directory_iterator(folder_), fs::directory_iterator());
  }

  fs::path folder_;
};

TEST_F(OutputFileTest, NothingAndAFileBecomeTheWholeOutput) {
  ASSERT_TRUE(write(at("file"), "first").ok());
  EXPECT_EQ(content(at("file")), "first");
  ASSERT_TRUE(write(at("file"), "2").ok());
  EXPECT_EQ(content(at("file")), "2");
  struct stat info {};
  ASSERT_EQ(::stat(at("file").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777U, 0600U);
}

TEST_F(OutputFileTest, WithoutTheEndTheOldFileStays) {
  ASSERT_TRUE(write(at("file"), "first").ok());
  {
    auto file = OutputFile::open(at("file"), 0600, kPatience);
    ASSERT_TRUE(file.ok() && file->write("a part").ok());
  }
  EXPECT_EQ(content(at("file")), "first");
  EXPECT_EQ(entries(), 1);
}

TEST_F(OutputFileTest, ASymbolicLinkStaysAndItsEndIsWritten) {
  fs::create_directory(at("inner"));
  fs::create_symlink("inner/target", at("link"));
  fs::create_symlink("link", at("link2"));
  for (const char* text : {"new", "replaced"}) {
    ASSERT_TRUE(write(at("link2"), text).ok());
    EXPECT_EQ(content(at("inner/target")), text);
  }
  EXPECT_TRUE(fs::is_symlink(at("link2")) && fs::is_symlink(at("link")));
  fs::create_symlink("round", at("round"));
  EXPECT_FALSE(write(at("round"), "x").ok());
}

TEST_F(OutputFileTest, ADeviceIsWrittenTo) {
  fs::create_symlink("/dev/null", at("null"));
  EXPECT_TRUE(write(at("null"), "x").ok());
  EXPECT_TRUE(fs::is_symlink(at("null")) && fs::is_character_file("/dev/null"));
  const auto full = write("/dev/full", "x");
  ASSERT_FALSE(full.ok());
  EXPECT_EQ(full.error().code, Code::kResourceExhausted);
  EXPECT_EQ(full.error().message, "cannot write /dev/full: No space left on device");
}

TEST_F(OutputFileTest, AFifoIsWrittenToAndWaitedForOnlySoLong) {
  ASSERT_EQ(::mkfifo(at("fifo").c_str(), 0600), 0);
  EXPECT_EQ(write(at("fifo"), "x").error().code, Code::kDeadlineExceeded);
  const UniqueFd reader(::open(at("fifo").c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  ASSERT_TRUE(write(at("fifo"), "to the reader").ok());
  std::array<char, 100> buffer{};
  EXPECT_EQ(::read(reader.get(), buffer.data(), buffer.size()), 13);
  EXPECT_TRUE(fs::is_fifo(at("fifo")));
  EXPECT_EQ(write(at("fifo"), std::string(1'000'000, 'x')).error().code, Code::kDeadlineExceeded);
}

TEST_F(OutputFileTest, ADescriptorOfOursIsWrittenWhereItStands) {
  const UniqueFd file(::open(at("file").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  ASSERT_TRUE(write_all(file.get(), "before ", "file").ok());
  ASSERT_TRUE(write(format("/dev/fd/{}", file.get()), "it").ok());
  ASSERT_TRUE(write_all(file.get(), " after", "file").ok());
  EXPECT_EQ(content(at("file")), "before it after");
}

TEST_F(OutputFileTest, WhatCannotBeWrittenIsNotTheCallersThing) {
  for (const std::string& path : {at("missing/file"), folder_.string(), at("file/inner")}) {
    ASSERT_TRUE(write_file_atomically(at("file"), "", 0600).ok());
    const auto written = write(path, "x");
    ASSERT_FALSE(written.ok()) << path;
    EXPECT_EQ(written.error().code, Code::kFailedPrecondition);
    EXPECT_TRUE(written.error().message.starts_with("cannot write " + path + ":"))
        << written.error().message;
  }
}

}  // namespace
}  // namespace gangrun::base
