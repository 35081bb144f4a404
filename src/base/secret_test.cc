#include "base/secret.h"

#include <gmock/gmock.h>

#include <set>
#include <type_traits>

#include "base/format.h"

namespace gangrun::base {
namespace {

TEST(Secret, IsRandomAndHexadecimal) {
  std::set<std::string> seen;
  for (int i = 0; i < 100; ++i) {
    const Secret secret = Secret::generate();
    EXPECT_EQ(secret.reveal().size(), 64U);
    EXPECT_EQ(secret.reveal().find_first_not_of("0123456789abcdef"), std::string::npos);
    seen.insert(secret.reveal());
  }
  EXPECT_EQ(seen.size(), 100U);
}

TEST(Secret, MatchesItselfOnly) {
  const Secret secret("token");
  EXPECT_TRUE(secret.matches("token"));
  for (const char* other : {"", "t", "toke", "tokens", "tokem", "Token", "xoken"}) {
    EXPECT_FALSE(secret.matches(other)) << other;
  }
  EXPECT_FALSE(Secret().matches(""));
}

TEST(Secret, IsEmptyAfterItMovedAway) {
  Secret first("token");
  Secret second = std::move(first);
  EXPECT_TRUE(first.empty());  // NOLINT: what is left behind is the point
  EXPECT_TRUE(second.matches("token"));
  Secret third("other");
  third = std::move(second);
  EXPECT_TRUE(second.empty());  // NOLINT: what is left behind is the point
  EXPECT_TRUE(third.matches("token"));
  const Secret copy = third;
  third = copy;
  EXPECT_TRUE(third.matches("token") && copy.matches("token"));
}

TEST(Secret, CannotBePrinted) { EXPECT_FALSE(fmt::is_formattable<Secret>::value); }

}  // namespace
}  // namespace gangrun::base
