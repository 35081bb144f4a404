#include "base/letters.h"

#include <gtest/gtest.h>

namespace gangrun::base {
namespace {

TEST(Letters, OnlyThoseOfAsciiChange) {
  EXPECT_EQ(in_small_letters("Host-1.Example.ORG@[`{"), "host-1.example.org@[`{");
  EXPECT_EQ(in_small_letters("\xc3\x84"), "\xc3\x84");
}

TEST(Letters, AreTheSameWithoutTheirCase) {
  EXPECT_TRUE(same_without_case("WWW-Authenticate", "www-authenticate"));
  EXPECT_FALSE(same_without_case("Set-Cookie", "Set-Cookie2"));
  EXPECT_FALSE(same_without_case("@", "`"));
}

}  // namespace
}  // namespace gangrun::base
