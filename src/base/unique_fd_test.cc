#include "base/unique_fd.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <utility>

namespace gangrun::base {
namespace {

bool is_open(int fd) { return ::fcntl(fd, F_GETFD) >= 0; }
int open_null() { return ::open("/dev/null", O_RDONLY | O_CLOEXEC); }

TEST(UniqueFd, ClosesAtTheEndAndOnReset) {
  int number = -1;
  {
    const UniqueFd fd(open_null());
    number = fd.get();
    EXPECT_TRUE(is_open(number));
  }
  EXPECT_FALSE(is_open(number));
  UniqueFd fd(open_null());
  number = fd.get();
  fd.reset();
  EXPECT_FALSE(is_open(number));
  EXPECT_FALSE(fd.valid());
}

TEST(UniqueFd, MovingHandsItOnOnce) {
  UniqueFd first(open_null());
  const int number = first.get();
  UniqueFd second(std::move(first));
  EXPECT_EQ(second.get(), number);
  UniqueFd third;
  third = std::move(second);
  EXPECT_TRUE(is_open(third.get()));
  const int released = third.release();
  EXPECT_FALSE(third.valid());
  EXPECT_TRUE(is_open(released));
  UniqueFd last(released);
}

}  // namespace
}  // namespace gangrun::base
