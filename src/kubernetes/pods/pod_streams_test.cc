#include "kubernetes/pods/pod_streams.h"

#include <gtest/gtest.h>

namespace gangrun::kubernetes::pods {
namespace {

std::string at(int nanoseconds) {
  const std::string digits = std::to_string(1'000'000'000 + nanoseconds).substr(1);
  return "2026-01-31T12:00:05." + digits + "Z";
}

TEST(LineFilter, TellsAllOfTheFirstReading) {
  LineFilter filter;
  EXPECT_FALSE(filter.begin());
  EXPECT_TRUE(filter.is_new(at(1)));
  EXPECT_TRUE(filter.is_new(at(1)));
  EXPECT_TRUE(filter.is_new(at(7)));
  EXPECT_TRUE(filter.is_new(""));
  // Two writers of one log may be out of order by a moment.
  EXPECT_TRUE(filter.is_new(at(6)));
}

TEST(LineFilter, LeavesOutWhatHasBeenRead) {
  LineFilter filter;
  (void)filter.begin();
  for (const int time : {1, 2, 2}) EXPECT_TRUE(filter.is_new(at(time)));
  for (int again = 0; again < 2; ++again) {
    EXPECT_EQ(filter.begin(), at(2));
    for (const int time : {1, 2, 2}) EXPECT_FALSE(filter.is_new(at(time)));
  }
  EXPECT_TRUE(filter.is_new(at(2)));
  EXPECT_TRUE(filter.is_new(at(3)));
  EXPECT_EQ(filter.begin(), at(3));
  EXPECT_FALSE(filter.is_new(at(2)));
  EXPECT_FALSE(filter.is_new(at(3)));
  EXPECT_TRUE(filter.is_new(at(3)));
}

}  // namespace
}  // namespace gangrun::kubernetes::pods
