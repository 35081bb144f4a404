// The functions of missing.cc, against the C library's own functions of these names: here `stat` is
// ours, and what the C library has is found by dlsym.

#include <dlfcn.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <set>
#include <stdexcept>
#include <string>

namespace {

template <typename Function>
Function* of_the_c_library(const char* name, Function* ours) {
  static void* const kLibrary = ::dlopen("libc.so.6", RTLD_NOW);
  auto* const theirs = reinterpret_cast<Function*>(::dlsym(kLibrary, name));
  EXPECT_NE(theirs, nullptr) << name;
  EXPECT_NE(theirs, ours) << name << " is not ours here";
  return theirs;
}

bool same(const struct stat& one, const struct stat& other) {
  return one.st_dev == other.st_dev && one.st_ino == other.st_ino && one.st_mode == other.st_mode &&
         one.st_nlink == other.st_nlink && one.st_uid == other.st_uid &&
         one.st_size == other.st_size && one.st_mtim.tv_nsec == other.st_mtim.tv_nsec &&
         one.st_ctim.tv_sec == other.st_ctim.tv_sec;
}

TEST(OldLibc, FilesAreSeenAlike) {
  auto* const their_stat = of_the_c_library("stat", &::stat);
  auto* const their_lstat = of_the_c_library("lstat", &::lstat);
  for (const char* const path : {"/proc/self/exe", "/", "/dev/null", "/etc/hosts"}) {
    struct stat ours {};
    struct stat theirs {};
    EXPECT_EQ(::stat(path, &ours), their_stat(path, &theirs)) << path;
    EXPECT_TRUE(same(ours, theirs)) << path;
    EXPECT_EQ(::lstat(path, &ours), their_lstat(path, &theirs)) << path;
    EXPECT_EQ(ours.st_mode, theirs.st_mode) << path;
  }
  struct stat link {};
  ASSERT_EQ(::lstat("/proc/self/exe", &link), 0);
  EXPECT_TRUE(S_ISLNK(link.st_mode));
  errno = 0;
  EXPECT_EQ(::stat("/proc/self/none", &link), -1);
  EXPECT_EQ(errno, ENOENT);
}

TEST(OldLibc, OpenFilesAreSeenAlike) {
  const int file = ::open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
  ASSERT_GE(file, 0);
  struct stat ours {};
  struct stat theirs {};
  struct stat64 large {};
  EXPECT_EQ(::fstat(file, &ours), 0);
  EXPECT_EQ(of_the_c_library("fstat", &::fstat)(file, &theirs), 0);
  EXPECT_TRUE(same(ours, theirs));
  EXPECT_EQ(::fstat64(file, &large), 0);
  EXPECT_EQ(large.st_ino, theirs.st_ino);
  ::close(file);
  errno = 0;
  EXPECT_EQ(::fstat(file, &ours), -1);
  EXPECT_EQ(errno, EBADF);
}

TEST(OldLibc, ErrorsAndSignalsHaveTheSameNames) {
  auto* const their_text = of_the_c_library("strerrordesc_np", &::strerrordesc_np);
  for (int number = 0; number < 200; ++number) {
    const char* const ours = ::strerrordesc_np(number);
    const char* const theirs = their_text(number);
    EXPECT_STREQ(ours, theirs) << number;
  }
  auto* const their_name = of_the_c_library("sigabbrev_np", &::sigabbrev_np);
  for (int number = -1; number < 70; ++number) {
    EXPECT_STREQ(::sigabbrev_np(number), their_name(number)) << number;
  }
}

TEST(OldLibc, RandomBytesDiffer) {
  std::set<std::string> seen;
  for (int round = 0; round < 100; ++round) {
    std::array<char, 16> bytes{};
    ASSERT_EQ(::getentropy(bytes.data(), bytes.size()), 0);
    seen.insert(std::string(bytes.data(), bytes.size()));
    ASSERT_EQ(::getrandom(bytes.data(), bytes.size(), 0), 16);
    seen.insert(std::string(bytes.data(), bytes.size()));
  }
  EXPECT_EQ(seen.size(), 200);
  std::set<std::uint32_t> numbers;
  for (int round = 0; round < 100; ++round) numbers.insert(::arc4random());
  EXPECT_GT(numbers.size(), 90);
  std::array<char, 257> too_many{};
  EXPECT_EQ(::getentropy(too_many.data(), too_many.size()), -1);
}

TEST(OldLibc, MemoryIsWiped) {
  std::string secret = "a secret";
  ::explicit_bzero(secret.data(), secret.size());
  EXPECT_EQ(secret, std::string(8, '\0'));
}

TEST(OldLibc, ProcessesAndMemoryFiles) {
  EXPECT_EQ(::gettid(), ::getpid());
  const int file = ::memfd_create("test", MFD_CLOEXEC);
  ASSERT_GE(file, 0);
  EXPECT_EQ(::fcntl(file, F_GETFD), FD_CLOEXEC);
  EXPECT_EQ(::write(file, "x", 1), 1);
  ::close(file);
}

TEST(OldLibc, TheObjectOfAnAddressIsFound) {
  auto* const theirs = of_the_c_library("_dl_find_object", &::_dl_find_object);
  void* const in_the_library = reinterpret_cast<void*>(of_the_c_library("stat", &::stat));
  void* const here = reinterpret_cast<void*>(&same);
  for (void* const address : {here, in_the_library}) {
    dl_find_object our_object{};
    dl_find_object their_object{};
    ASSERT_EQ(::_dl_find_object(address, &our_object), 0);
    ASSERT_EQ(theirs(address, &their_object), 0);
    EXPECT_EQ(our_object.dlfo_eh_frame, their_object.dlfo_eh_frame);
    EXPECT_LE(our_object.dlfo_map_start, address);
    EXPECT_GT(our_object.dlfo_map_end, address);
  }
  dl_find_object none{};
  EXPECT_EQ(::_dl_find_object(nullptr, &none), -1);
}

TEST(OldLibc, ExceptionsAreCaught) {
  EXPECT_EQ(std::stoi("7"), 7);
  EXPECT_THROW(std::stoi("seven"), std::invalid_argument);
}

}  // namespace
