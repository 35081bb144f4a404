#include "process/open_files.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string>

#include "base/unique_fd.h"
#include "process/spawn.h"

namespace gangrun::process {
namespace {

constexpr rlim_t kFew = 128;

// In a process of its own, as a limit that was raised stays so.
int raise_and_ask() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_max <= kFew) return 1;
  const rlim_t most = limit.rlim_max;
  limit.rlim_cur = kFew;
  if (::setrlimit(RLIMIT_NOFILE, &limit) != 0) return 2;
  raise_open_file_limit();
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur != most) return 3;
  std::array<int, 2> ends{};
  if (::pipe(ends.data()) != 0) return 4;
  const base::UniqueFd out(ends[0]);
  base::UniqueFd in(ends[1]);
  SpawnOptions options;
  options.argv = {"/bin/sh", "-c", "ulimit -Sn"};
  options.standard_output = in.get();
  const auto child = spawn(options);
  if (!child.ok()) return 5;
  in.reset();
  std::array<char, 32> text{};
  const ssize_t got = ::read(out.get(), text.data(), text.size());
  return got > 0 && std::string(text.data(), static_cast<std::size_t>(got)) == "128\n" ? 0 : 6;
}

int refuse() {
  const rlimit few{kFew, kFew};
  if (::setrlimit(RLIMIT_NOFILE, &few) != 0) return 1;
  if (!check_open_files(kFew).ok()) return 2;
  const auto refused = check_open_files(kFew + 1);
  if (refused.ok()) return 3;
  const std::string& words = refused.error().message;
  const bool has_both = words.find("needs 129 open files") != std::string::npos &&
                        words.find("allowed here: 128 ") != std::string::npos;
  return has_both ? 0 : 4;
}

TEST(OpenFiles, TooManyAreRefusedWithBothNumbers) {
  EXPECT_EXIT(::_exit(refuse()), testing::ExitedWithCode(0), "");
}

TEST(OpenFiles, AreRaisedForUsAndNotForWhatWeStart) {
  EXPECT_EXIT(::_exit(raise_and_ask()), testing::ExitedWithCode(0), "");
}

bool cannot_be_read(int fd) {
  char byte = 0;
  return ::read(fd, &byte, 1) < 0 && errno == EBADF;
}

bool cannot_be_written(int fd) { return ::write(fd, "x", 1) < 0 && errno == EBADF; }

// In a process of its own, which says nothing: it has nowhere to.
int close_all() {
  for (const int fd : {0, 1, 2}) ::close(fd);
  if (!open_standard_files().ok()) return 1;
  const int next = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  if (next < 3) return 2;
  if (!cannot_be_read(0) || !cannot_be_written(1) || !cannot_be_written(2)) return 3;
  for (const int fd : {0, 1, 2}) {
    if (::fcntl(fd, F_GETFD) != 0) return 4;  // what we start has them
  }
  return 0;
}

int close_one() {
  std::array<int, 2> ends{};
  if (::pipe(ends.data()) != 0 || ::dup2(ends[0], 0) != 0 || ::dup2(ends[1], 2) != 2) return 1;
  ::close(1);
  if (!open_standard_files().ok()) return 2;
  char byte = 0;
  if (::write(2, "x", 1) != 1 || ::read(0, &byte, 1) != 1) return 3;
  return cannot_be_written(1) ? 0 : 4;
}

// The lock of a job's master had been given number 2, and got all that was said.
TEST(StandardFiles, NoFileOfOursTakesTheNumberOfAClosedOne) {
  EXPECT_EXIT(::_exit(close_all()), testing::ExitedWithCode(0), "");
}

TEST(StandardFiles, ThoseThatAreOpenStay) {
  EXPECT_EXIT(::_exit(close_one()), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace gangrun::process
