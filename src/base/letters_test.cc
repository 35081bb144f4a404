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

TEST(Letters, MakeATextWithOthersThatAreNamed) {
  EXPECT_TRUE(is_of_letters_digits_and("a-1_Z", "_-"));
  EXPECT_FALSE(is_of_letters_digits_and("a-1_Z", "-"));
  EXPECT_FALSE(is_of_letters_digits_and("\xc3\x84", "-"));
}

TEST(Letters, DigitsOfOtherBasesEndWhereTheyDo) {
  EXPECT_TRUE(is_octal_digit('0') && is_octal_digit('7'));
  EXPECT_FALSE(is_octal_digit('8') || is_octal_digit('/'));
  EXPECT_TRUE(is_small_hex_digit('9') && is_small_hex_digit('a') && is_small_hex_digit('f'));
  EXPECT_FALSE(is_small_hex_digit('g') || is_small_hex_digit('A') || is_small_hex_digit(':'));
}

TEST(Letters, OnlySmallLettersHaveACapital) {
  EXPECT_EQ(capital_letter('a'), 'A');
  EXPECT_EQ(capital_letter('z'), 'Z');
  for (const char c : {'A', '{', '`', '1', '\xe4'}) EXPECT_EQ(capital_letter(c), c);
}

}  // namespace
}  // namespace gangrun::base
