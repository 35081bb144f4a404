#include "job/units.h"

#include <gmock/gmock.h>

#include "base/format.h"

namespace gangrun::job {
namespace {

using std::chrono::milliseconds;

TEST(Memory, ReadsEveryUnitAndABareNumberAsMib) {
  const std::pair<const char*, std::int64_t> cases[] = {
      {"512", 512},        {"0", 0},
      {"2 GiB", 2048},     {"512 MiB", 512},
      {"4g", 4096},        {"800m", 800},
      {"1.5 GiB", 1536},   {"1 tib", 1048576},
      {" 3 GIB ", 3072},   {"1T", 1048576},
      {"2 Gi", 2048},      {"0.3 GiB", 308},
      {"0.000001 MiB", 1}, {"64 TiB", kMaxMemoryMib}};
  for (const auto& [text, mib] : cases) {
    const auto parsed = parse_memory_mib(text);
    ASSERT_TRUE(parsed.ok()) << text << ": " << parsed.error().message;
    EXPECT_EQ(*parsed, mib) << text;
  }
}

TEST(Memory, ErrorsNameTheValueAndWhatIsAllowed) {
  const std::string allowed =
      "; allowed: a number with MiB (or m), GiB (g) or TiB (t), at most 64 TiB, for example 2 GiB; "
      "a bare number is in MiB";
  const std::pair<const char*, const char*> cases[] = {
      {"2 GBB", "'2 GBB' is not an amount of memory (unknown unit 'GBB'; did you mean 'GiB'?)"},
      {"2 GB", "'2 GB' is not an amount of memory (unknown unit 'GB'; did you mean 'GiB'?)"},
      {"2 Mb", "'2 Mb' is not an amount of memory (unknown unit 'Mb'; did you mean 'MiB'?)"},
      {"2 cups", "'2 cups' is not an amount of memory (unknown unit 'cups')"},
      {"-2g", "'-2g' is not an amount of memory (negative)"},
      {"65 TiB", "'65 TiB' is not an amount of memory (too large)"},
      {"99999999999999999999999",
       "'99999999999999999999999' is not an amount of memory (too large)"},
      {"", "'' is not an amount of memory"},
      {"GiB", "'GiB' is not an amount of memory"},
      {"1.", "'1.' is not an amount of memory"},
      {".5g", "'.5g' is not an amount of memory"},
      {"1.0000001g", "'1.0000001g' is not an amount of memory"}};
  for (const auto& [text, message] : cases) {
    const auto parsed = parse_memory_mib(text);
    ASSERT_FALSE(parsed.ok()) << text;
    EXPECT_EQ(parsed.error().message, message + allowed);
  }
}

TEST(Memory, TextReadsBackAsTheSameAmount) {
  EXPECT_EQ(memory_text(0), "0 MiB");
  EXPECT_EQ(memory_text(1536), "1536 MiB");
  EXPECT_EQ(memory_text(2048), "2 GiB");
  EXPECT_EQ(memory_text(3 << 20), "3 TiB");
  for (const std::int64_t mib : {0L, 1L, 1023L, 1024L, 1025L, 1L << 20, kMaxMemoryMib}) {
    EXPECT_EQ(parse_memory_mib(memory_text(mib)).value_or(-1), mib);
  }
}

TEST(Duration, ReadsEveryUnitAndABareNumberAsSeconds) {
  const std::pair<const char*, std::int64_t> cases[] = {{"10 min", 600'000},
                                                        {"2 h", 7'200'000},
                                                        {"30 s", 30'000},
                                                        {"500 ms", 500},
                                                        {"30", 30'000},
                                                        {"10m", 600'000},
                                                        {"0", 0},
                                                        {"1.5 h", 5'400'000},
                                                        {"0.25s", 250},
                                                        {"1d", 86'400'000},
                                                        {"5 SEC", 5000},
                                                        {"0.1 ms", 1},
                                                        {"365 d", kMaxDuration.count()}};
  for (const auto& [text, ms] : cases) {
    const auto parsed = parse_duration(text);
    ASSERT_TRUE(parsed.ok()) << text << ": " << parsed.error().message;
    EXPECT_EQ(parsed->count(), ms) << text;
  }
}

TEST(Duration, ErrorsNameTheValueAndWhatIsAllowed) {
  const auto wrong = parse_duration("10 mins");
  ASSERT_FALSE(wrong.ok());
  EXPECT_EQ(
      wrong.error().message,
      "'10 mins' is not a time (unknown unit 'mins'; did you mean 'min'?); allowed: a number "
      "with ms, s, min (or m), h or d, at most 365 d, for example 10 min; a bare number is in "
      "seconds");
  const auto limited = parse_duration("61 s", std::chrono::minutes(1));
  EXPECT_THAT(limited.error().message, testing::HasSubstr("(too large); allowed: "));
  EXPECT_THAT(limited.error().message, testing::HasSubstr(", at most 1 min, "));
  EXPECT_TRUE(parse_duration("60 s", std::chrono::minutes(1)).ok());
  EXPECT_THAT(parse_duration("3 hs").error().message, testing::HasSubstr("did you mean 'h'?"));
  EXPECT_THAT(parse_duration("3 Ds").error().message, testing::HasSubstr("did you mean 'd'?"));
  EXPECT_THAT(parse_duration("3 mss").error().message, testing::HasSubstr("did you mean 'ms'?"));
  for (const char* text : {"366 d", "-1s", "1 h 30 min", "soon", "1e3", "10000000000000 d"}) {
    EXPECT_FALSE(parse_duration(text).ok()) << text;
  }
}

TEST(Duration, TextReadsBackAsTheSameTime) {
  EXPECT_EQ(duration_text(milliseconds(0)), "0 s");
  EXPECT_EQ(duration_text(milliseconds(1500)), "1500 ms");
  EXPECT_EQ(duration_text(milliseconds(90'000)), "90 s");
  EXPECT_EQ(duration_text(milliseconds(600'000)), "10 min");
  EXPECT_EQ(duration_text(milliseconds(7'200'000)), "2 h");
  for (const std::int64_t ms : {0L, 1L, 999L, 1000L, 59'999L, 60'000L, 3'600'000L}) {
    EXPECT_EQ(parse_duration(duration_text(milliseconds(ms))).value_or(milliseconds(-1)).count(),
              ms);
  }
}

TEST(Count, StaysInItsRange) {
  EXPECT_EQ(parse_count(" 7 ", 1, 10).value_or(-1), 7);
  for (const char* text : {"0", "11", "-3", "1.0", "two", "", "999999999999999999999"}) {
    const auto parsed = parse_count(text, 1, 10);
    ASSERT_FALSE(parsed.ok()) << text;
    EXPECT_EQ(parsed.error().message,
              base::format("'{}' is not allowed; allowed: a whole number from 1 to 10", text));
  }
}

TEST(InVariable, IsInCapitalsAndHasNoHyphen) {
  EXPECT_EQ(in_variable("data-server_2b"), "DATA_SERVER_2B");
  EXPECT_EQ(in_variable(""), "");
}

TEST(InQuotes, IsShortAndOneLine) {
  EXPECT_EQ(in_quotes("a\nb\x1b[1m"), "'a?b?[1m'");
  EXPECT_LT(in_quotes(std::string(1000, 'x')).size(), 70U);
}

}  // namespace
}  // namespace gangrun::job
