#include "base/strings.h"

#include <gmock/gmock.h>

#include <limits>

namespace gangrun::base {
namespace {

TEST(Split, KeepsEmptyParts) {
  EXPECT_THAT(split("a,,b,", ','), testing::ElementsAre("a", "", "b", ""));
  EXPECT_THAT(split("", ','), testing::ElementsAre(""));
}

TEST(Trim, TakesWhiteSpaceFromBothEndsOnly) {
  EXPECT_EQ(trim(" \t a b \r\n"), "a b");
  EXPECT_EQ(trim(" \n "), "");
  EXPECT_EQ(trim(""), "");
}

TEST(ParseInteger, TakesAWholeDecimalNumberAndNothingElse) {
  EXPECT_EQ(parse_integer("-12"), -12);
  EXPECT_EQ(parse_integer("007"), 7);
  EXPECT_EQ(parse_integer("9223372036854775807"), std::numeric_limits<std::int64_t>::max());
  for (const char* text : {"", "-", "+1", " 1", "1 ", "1.0", "0x1", "9223372036854775808", "1e3"}) {
    EXPECT_EQ(parse_integer(text), std::nullopt) << text;
  }
}

TEST(IsValidUtf8, FollowsTheTableOfWellFormedSequences) {
  for (const char* text : {"", "a", "ü", "…", "\xF0\x9F\x98\x80", "\xED\x9F\xBF", "\xEE\x80\x80",
                           "\xF4\x8F\xBF\xBF"}) {
    EXPECT_TRUE(is_valid_utf8(text)) << text;
  }
  // A bare continuation, an overlong form, a surrogate, beyond U+10FFFF, a sequence cut short.
  for (const char* text : {"\x80", "\xC0\xAF", "\xE0\x80\xAF", "\xED\xA0\x80", "\xF4\x90\x80\x80",
                           "\xF5\x80\x80\x80", "\xE2\x80", "a\xC3", "\xFF", "\xC3(", "\xE2\x80("}) {
    EXPECT_FALSE(is_valid_utf8(text));
  }
  EXPECT_TRUE(is_valid_utf8(std::string_view("a\0b", 3)));
}

TEST(Nearest, FindsASlipOfTheFingerOnly) {
  const std::vector<std::string> names = {"memory", "vcores", "gpus"};
  EXPECT_EQ(nearest("memmory", names), "memory");
  EXPECT_EQ(nearest("mmeory", names), "memory");
  EXPECT_EQ(nearest("gpu", names), "gpus");
  EXPECT_EQ(nearest("disk", names), std::nullopt);
  // Two letters that are swapped are one slip: of "image" it was as far away.
  EXPECT_EQ(nearest("nmae", {"image", "name"}), "name");
  EXPECT_EQ(nearest("", names), std::nullopt);
  EXPECT_EQ(nearest(std::string(1'000'000, 'm'), names), std::nullopt);
  EXPECT_EQ(nearest("memory", {}), std::nullopt);
}

TEST(ShellQuote, LeavesPlainWordsAndQuotesTheRest) {
  EXPECT_EQ(shell_quote("--out=a/b_1.py"), "--out=a/b_1.py");
  EXPECT_EQ(shell_quote(""), "''");
  EXPECT_EQ(shell_quote("a b"), "'a b'");
  EXPECT_EQ(shell_quote("it's"), R"('it'\''s')");
  for (const char* text : {"$x", "`x`", "a;b", "a&b", "~", "*", "#x", "a\nb", "\"", "\\", "!x"}) {
    EXPECT_EQ(shell_quote(text).front(), '\'') << text;
  }
}

TEST(Shorten, CutsBetweenCodePointsWithinTheLimit) {
  EXPECT_EQ(shorten("short", 5), "short");
  EXPECT_EQ(shorten("abcdefgh", 6), "abc…");
  const std::string umlauts = "äöüäöüäöü";
  for (std::size_t limit = 3; limit < umlauts.size(); ++limit) {
    const std::string cut = shorten(umlauts, limit);
    EXPECT_LE(cut.size(), limit);
    EXPECT_TRUE(is_valid_utf8(cut)) << limit;
    EXPECT_TRUE(cut.ends_with("…"));
  }
}

TEST(FirstAndMore, NamesTheFirstAndCountsTheRest) {
  using Words = std::vector<std::string>;
  EXPECT_EQ(first_and_more(Words{}, 2), "");
  EXPECT_EQ(first_and_more(Words{"a"}, 2), "a");
  EXPECT_EQ(first_and_more(Words{"a", "b"}, 2), "a, b");
  EXPECT_EQ(first_and_more(Words{"a", "b", "c"}, 2), "a, b and 1 more");
  EXPECT_EQ(first_and_more(Words{"a", "b", "c", "d", "e"}, 2), "a, b and 3 more");
}

TEST(FirstAndMore, WhatIsNotShownIsNotNamed) {
  int named = 0;
  const auto name = [&](int number) {
    ++named;
    return "worker:" + std::to_string(number);
  };
  EXPECT_EQ(first_and_more(std::vector<int>(1000, 7), 1, name), "worker:7 and 999 more");
  EXPECT_EQ(named, 1);
}

TEST(Printable, WhatIsShownIsOneLineThatDoesNothingElse) {
  EXPECT_EQ(printable("Grüße, 東京 🎉 a\\b"), "Grüße, 東京 🎉 a\\b");
  EXPECT_EQ(printable("ana\nthe job has succeeded\r\n"), "ana\\nthe job has succeeded\\x0d\\n");
  EXPECT_EQ(printable("\x1b]52;c;aGk=\a\x1b[2J\t\x7f"), "\\x1b]52;c;aGk=\\x07\\x1b[2J\\t\\x7f");
  // C1 controls, a separator of lines, an override of direction, and half a character.
  EXPECT_EQ(printable("\xc2\x9b"
                      "a\u2028\u202e\u2066\xff\xe2\x80"),
            "\\xc2\\x9b"
            "a\\xe2\\x80\\xa8\\xe2\\x80\\xae\\xe2\\x81\\xa6\\xff\\xe2\\x80");
  EXPECT_EQ(printable(std::string_view("\0", 1)), "\\x00");
}

TEST(WithoutMark, OnlyAMarkAtTheBeginningGoes) {
  EXPECT_EQ(*without_mark("\xEF\xBB\xBF"
                          "a\xEF\xBB\xBF"),
            "a\xEF\xBB\xBF");
  EXPECT_EQ(*without_mark("a"), "a");
  EXPECT_EQ(*without_mark(""), "");
  for (const char* text : {"\xFF\xFE"
                           "a",
                           "\xFE\xFF"
                           "a"})
    EXPECT_FALSE(without_mark(text).ok());
}

}  // namespace
}  // namespace gangrun::base
