#include "base/files.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <map>
#include <string>
#include <thread>

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
  EXPECT_EQ(read_input("/dev/zero", 100'000).error().code, Code::kResourceExhausted);
}

TEST_F(Files, WhatIsNoFileIsRefusedAndNobodyWaitsForIt) {
  ASSERT_EQ(::mkfifo(path("fifo").c_str(), 0600), 0);
  const UniqueFd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
  path("socket").copy(address.sun_path, sizeof(address.sun_path) - 1);
  ASSERT_EQ(::bind(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
  ASSERT_EQ(::symlink("/dev/zero", path("link").c_str()), 0);
  for (const auto& [file, words] : std::map<std::string, std::string>{{path("fifo"), "a FIFO"},
                                                                      {path("socket"), "a socket"},
                                                                      {path("link"), "a device"},
                                                                      {folder_, "a folder"}}) {
    const auto read = read_file(file, kFileLimit);
    ASSERT_FALSE(read.ok());
    EXPECT_EQ(read.error().code, Code::kFailedPrecondition);
    EXPECT_EQ(read.error().message, format("cannot read {}: it is {} and not a file", file, words));
    const auto written = open_file(file, O_WRONLY | O_CREAT | O_APPEND, 0600);
    ASSERT_FALSE(written.ok());
    EXPECT_EQ(written.error().message,
              format("cannot write {}: it is {} and not a file", file, words));
  }
  ASSERT_EQ(::symlink("fifo", path("to-fifo").c_str()), 0);
  EXPECT_FALSE(read_file(path("to-fifo"), kFileLimit).ok());
  ASSERT_EQ(::symlink("loop", path("loop").c_str()), 0);
  EXPECT_FALSE(read_file(path("loop"), kFileLimit).ok());
  EXPECT_TRUE(read_file("/proc/self/status", kFileLimit).ok());
}

TEST_F(Files, AnInputMayBeAPipe) {
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  const UniqueFd reader(ends[0]);
  UniqueFd writer(ends[1]);
  ASSERT_TRUE(write_all(writer.get(), "from a pipe", "the pipe").ok());
  writer.reset();
  const auto text = read_input(format("/proc/self/fd/{}", reader.get()), kFileLimit);
  ASSERT_TRUE(text.ok()) << text.error().message;
  EXPECT_EQ(*text, "from a pipe");
}

TEST_F(Files, APipeThatNobodyWritesIsNotWaitedForForEver) {
  ASSERT_EQ(::mkfifo(path("fifo").c_str(), 0600), 0);
  const auto silent = read_input(path("fifo"), kFileLimit, std::chrono::milliseconds(1));
  ASSERT_FALSE(silent.ok());
  EXPECT_EQ(silent.error().code, Code::kDeadlineExceeded);
  EXPECT_THAT(silent.error().message,
              testing::HasSubstr(path("fifo") + ": nothing was written to it for"));
  // One that writes later is read to the end.
  std::thread writer([this] {
    const UniqueFd fd(::open(path("fifo").c_str(), O_WRONLY | O_CLOEXEC));
    EXPECT_TRUE(write_all(fd.get(), "late", "the pipe").ok());
  });
  const auto text = read_input(path("fifo"), kFileLimit);
  writer.join();
  ASSERT_TRUE(text.ok()) << text.error().message;
  EXPECT_EQ(*text, "late");
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

TEST_F(Files, RemovesWhatIsThere) {
  const std::string file = folder_ + "/file";
  const std::string link = folder_ + "/link";
  ASSERT_TRUE(write_private_file(file, "x").ok());
  ASSERT_EQ(::symlink("nowhere", link.c_str()), 0);
  for (const std::string& path : {file, link, folder_ + "/none"}) {
    remove_if_there(path);
    EXPECT_FALSE(std::filesystem::exists(std::filesystem::symlink_status(path))) << path;
  }
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

// In a process of its own.
int read_closed_input() {
  ::close(STDIN_FILENO);
  const auto closed = read_input("/dev/stdin", 10);
  if (closed.ok() || closed.error().message.find("standard input is closed") == std::string::npos) {
    return 1;
  }
  // As open_standard_files() leaves it.
  if (::open("/dev/null", O_WRONLY | O_CLOEXEC) != STDIN_FILENO) return 2;
  if (read_input("/dev/stdin", 10).ok()) return 3;
  ::close(STDIN_FILENO);
  if (::open("/dev/null", O_RDONLY | O_CLOEXEC) != STDIN_FILENO) return 4;
  return read_input("/dev/stdin", 10).ok() ? 0 : 5;
}

TEST_F(Files, AClosedStandardInputIsNotAnEmptyOne) {
  EXPECT_EXIT(::_exit(read_closed_input()), testing::ExitedWithCode(0), "");
}

// Standard input becomes `input`, of a process of its own; 0 if `wanted` is read from it.
int read_from(int input, std::string_view wanted, std::size_t max_bytes) {
  if (::dup2(input, STDIN_FILENO) != STDIN_FILENO) return 1;
  const auto text = read_input("/dev/stdin", max_bytes);
  return text.ok() && *text == wanted ? 0 : 2;
}

// Opening it by its name fails.
TEST_F(Files, StandardInputMayBeASocket) {
  int ends[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
  const UniqueFd reader(ends[0]);
  UniqueFd writer(ends[1]);
  ASSERT_TRUE(write_all(writer.get(), "from a socket", "the socket").ok());
  ASSERT_EQ(::shutdown(writer.get(), SHUT_WR), 0);
  EXPECT_EXIT(::_exit(read_from(reader.get(), "from a socket", kFileLimit)),
              testing::ExitedWithCode(0), "");
}

// It began again at the beginning of the file.
TEST_F(Files, StandardInputIsReadFromWhereItIs) {
  ASSERT_TRUE(write_file_atomically(path("a"), "head\ntail", 0600).ok());
  const UniqueFd file(::open(path("a").c_str(), O_RDONLY | O_CLOEXEC));
  ASSERT_EQ(::lseek(file.get(), 5, SEEK_SET), 5);
  EXPECT_EXIT(::_exit(read_from(file.get(), "tail", 4)), testing::ExitedWithCode(0), "");
}

TEST_F(Files, TheLimitOfStandardInputIsThatOfWhatIsLeft) {
  ASSERT_TRUE(write_file_atomically(path("a"), "head\ntail", 0600).ok());
  const UniqueFd file(::open(path("a").c_str(), O_RDONLY | O_CLOEXEC));
  ASSERT_EQ(::lseek(file.get(), 4, SEEK_SET), 4);
  EXPECT_EXIT(::_exit(read_from(file.get(), "", 4)), testing::ExitedWithCode(2), "");
}

TEST(MemoryFile, IsEmptyHasNoNameAndIsClosedOnExec) {
  const auto file = memory_file("some");
  ASSERT_TRUE(file.ok()) << file.error().message;
  struct stat info {};
  ASSERT_EQ(::fstat(file->get(), &info), 0);
  EXPECT_EQ(info.st_size, 0);
  EXPECT_EQ(info.st_nlink, 0U);
  EXPECT_EQ(::fcntl(file->get(), F_GETFD), FD_CLOEXEC);
  const bool can_be_sealed = ::fcntl(file->get(), F_ADD_SEALS, F_SEAL_GROW) == 0;
  EXPECT_EQ(can_be_sealed, has_memory_files());
}

TEST(ReadAt, WhatIsThereFromAnOffset) {
  const auto file = memory_file("read_at", "0123456789");
  ASSERT_TRUE(file.ok());
  EXPECT_EQ(*read_at(file->get(), 2, 3, "read"), "234");
  EXPECT_EQ(*read_at(file->get(), 0, 10, "read"), "0123456789");
  EXPECT_EQ(*read_at(file->get(), 3, 0, "read"), "");
}

TEST(ReadAt, LessOnlyWhereTheFileEnds) {
  const auto file = memory_file("read_at", "0123456789");
  ASSERT_TRUE(file.ok());
  EXPECT_EQ(*read_at(file->get(), 8, 5, "read"), "89");
  EXPECT_EQ(*read_at(file->get(), 10, 5, "read"), "");
}

TEST(ReadAt, AnErrorBeginsWithWhatWasRead) {
  const auto bytes = read_at(-1, 0, 5, "cannot read the log");
  ASSERT_FALSE(bytes.ok());
  EXPECT_THAT(bytes.error().message, testing::StartsWith("cannot read the log"));
}

}  // namespace
}  // namespace gangrun::base
