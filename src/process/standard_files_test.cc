#include "process/standard_files.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cerrno>

namespace gangrun::process {
namespace {

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
