#include "client/text.h"

#include <gtest/gtest.h>

namespace gangrun::client {
namespace {

TEST(Harmless, KeepsWhatOnlyShowsItself) {
  EXPECT_EQ(harmless("step 400: loss 0.25"), "step 400: loss 0.25");
  EXPECT_EQ(harmless("Zürich 東京 🚀"), "Zürich 東京 🚀");
}

TEST(Harmless, TakesEscapeSequencesAway) {
  EXPECT_EQ(harmless("\x1b[31mred\x1b[0m end"), "red end");
  EXPECT_EQ(harmless("\x1b]0;title\atext"), "text");
  EXPECT_EQ(harmless("\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\"), "link");
  EXPECT_EQ(harmless("a\x1b"), "a");
  EXPECT_EQ(harmless("a\x1b[12;3"), "a");
  EXPECT_EQ(harmless("\x1b[2Jcleared"), "cleared");
}

TEST(Harmless, ReplacesControlCharactersAndBadBytes) {
  EXPECT_EQ(harmless(std::string_view("a\0b\x07", 4)), "a\uFFFDb\uFFFD");
  EXPECT_EQ(harmless("a\xff\xc3"), "a\uFFFD\uFFFD");
  EXPECT_EQ(harmless("\xed\xa0\x80"), "\uFFFD\uFFFD\uFFFD");
  EXPECT_EQ(harmless("\xc2\x9b"
                     "31m"),
            "\uFFFD31m");
  EXPECT_EQ(harmless("evil\u202Etxt"), "evil\uFFFDtxt");
}

TEST(Harmless, ShowsTheLastStateOfAProgressBar) {
  EXPECT_EQ(harmless("10 %\r20 %\r30 %\r\n"), "30 %");
  EXPECT_EQ(harmless("a\tb"), "a       b");
}

TEST(DisplayWidth, CountsColumns) {
  EXPECT_EQ(display_width("abc"), 3U);
  EXPECT_EQ(display_width("東京"), 4U);
  EXPECT_EQ(display_width("e\u0301"), 1U);
  EXPECT_EQ(display_width("🚀"), 2U);
}

TEST(Cut, NeverExceedsTheWidth) {
  for (const char* text : {"abcdef", "東京東京", "e\u0301e\u0301e\u0301", "", "a東b京"}) {
    for (std::size_t width = 0; width < 10; ++width) {
      EXPECT_LE(display_width(cut(text, width)), width) << text << " at " << width;
      EXPECT_EQ(display_width(fit(text, width)), width) << text << " at " << width;
    }
  }
  EXPECT_EQ(cut("abcdef", 6), "abcdef");
  EXPECT_EQ(cut("abcdef", 4), "abc…");
  EXPECT_EQ(fit("ab", 4), "ab  ");
}

TEST(BytesText, UsesTheUnitThatReadsWell) {
  EXPECT_EQ(bytes_text(0), "-");
  EXPECT_EQ(bytes_text(1), "1 KiB");
  EXPECT_EQ(bytes_text(std::int64_t{812} << 20), "812 MiB");
  EXPECT_EQ(bytes_text(std::int64_t{3} << 29), "1.5 GiB");
}

TEST(CountText, KnowsTheSingular) {
  EXPECT_EQ(count_text(1, "task"), "1 task");
  EXPECT_EQ(count_text(0, "task"), "0 tasks");
}

}  // namespace
}  // namespace gangrun::client
