#include "base/terminal_text.h"

#include <gtest/gtest.h>

namespace gangrun::base {
namespace {

TEST(Harmless, KeepsWhatOnlyShowsItself) {
  EXPECT_EQ(harmless_output("step 400: loss 0.25"), "step 400: loss 0.25");
  EXPECT_EQ(harmless_output("Zürich 東京 🚀"), "Zürich 東京 🚀");
}

TEST(Harmless, TakesEscapeSequencesAway) {
  EXPECT_EQ(harmless_output("\x1b[31mred\x1b[0m end"), "red end");
  EXPECT_EQ(harmless_output("\x1b]0;title\atext"), "text");
  EXPECT_EQ(harmless_output("\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\"), "link");
  EXPECT_EQ(harmless_output("a\x1b"), "a");
  EXPECT_EQ(harmless_output("a\x1b[12;3"), "a");
  EXPECT_EQ(harmless_output("\x1b[2Jcleared"), "cleared");
  // `tput sgr0`, and others with an intermediate byte.
  EXPECT_EQ(harmless_output("\x1b(B\x1b[mplain"), "plain");
  EXPECT_EQ(harmless_output("\x1b#8\x1b%G\x1b Fa\x1b[4 qb\x1b[!pc\x1b=d"), "abcd");
  EXPECT_EQ(harmless_output("\x1b]52;c;cm0=\atext\x1bXstring\x1b\\s"), "texts");
  EXPECT_EQ(harmless_output("\x1b[東\x1b(東"), "東東");
}

TEST(Harmless, ReplacesControlCharactersAndBadBytes) {
  EXPECT_EQ(harmless_output(std::string_view("a\0b\x07", 4)), "a\uFFFDb\uFFFD");
  EXPECT_EQ(harmless_output("a\xff\xc3"), "a\uFFFD\uFFFD");
  EXPECT_EQ(harmless_output("\xed\xa0\x80"), "\uFFFD\uFFFD\uFFFD");
  EXPECT_EQ(harmless_output("\xc2\x9b"
                            "31m"),
            "\uFFFD31m");
  EXPECT_EQ(harmless_output("evil\u202Etxt"), "evil\uFFFDtxt");
}

TEST(Harmless, ShowsTheLastStateOfAProgressBar) {
  EXPECT_EQ(harmless_output("10 %\r20 %\r30 %\r\n"), "30 %");
  EXPECT_EQ(harmless_output("a\tb"), "a       b");
  EXPECT_EQ(harmless_output("a\tb\x1b[2J\t\x07\r\n", Tabs::kStay), "a\tb\t\uFFFD");
}

TEST(HarmlessSentence, IsOneLineOfWhichNothingIsTakenAway) {
  EXPECT_EQ(harmless_sentence("host a: no\r\ngangrun: job-1 succeeded\n"),
            "host a: no  gangrun: job-1 succeeded");
  EXPECT_EQ(harmless_sentence("a\x1b[2J\x1b[Hb\x07"), "ab\uFFFD");
  EXPECT_LE(harmless_sentence(std::string(1 << 20, 'x')).size(), kMaxSentence);
}

TEST(TheirWords, AreMarkedAndShort) {
  EXPECT_EQ(their_words("go \"away\"\n"), "\"go 'away'\"");
  EXPECT_EQ(their_words(""), "\"\"");
  EXPECT_EQ(their_words("abcdef", 4), "\"a…\"");
  EXPECT_LT(their_words(std::string(8 << 20, 'x')).size(), 400U);
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
    }
  }
  EXPECT_EQ(cut("abcdef", 6), "abcdef");
  EXPECT_EQ(cut("abcdef", 4), "abc…");
}

}  // namespace
}  // namespace gangrun::base
