#include "base/clock.h"

#include <gmock/gmock.h>

namespace gangrun::base {
namespace {

using std::chrono::hours;
using std::chrono::minutes;

TEST(ToIso8601, IsUtcWithMilliseconds) {
  EXPECT_EQ(to_iso8601(WallTime{}), "1970-01-01T00:00:00.000Z");
  EXPECT_EQ(to_iso8601(WallTime{milliseconds(1'769'860'800'123)}), "2026-01-31T12:00:00.123Z");
  EXPECT_EQ(to_iso8601(WallTime{milliseconds(1'709'164'800'000)}), "2024-02-29T00:00:00.000Z");
}

TEST(ParseIso8601, ReadsWhatIsWritten) {
  for (const std::int64_t ms : {0L, 1'769'860'800'123L, 1'709'164'800'000L, 9'214'646'399'999L}) {
    const WallTime time{milliseconds(ms)};
    const auto read = parse_iso8601(to_iso8601(time));
    ASSERT_TRUE(read.ok()) << ms;
    EXPECT_EQ(*read, time);
  }
}

TEST(ParseIso8601, RefusesEverythingElse) {
  for (const char* text :
       {"", "yesterday", "2026-01-31T12:00:00Z", "2026-01-31 12:00:00.123Z",
        "2026-06-31T12:00:00.123Z", "2026-01-31T25:00:00.123Z", "2026-01-31T12:00:00.123Z ",
        "0000-01-31T12:00:00.123Z", "9999-01-31T12:00:00.123Z", "2026-01-31T12:00:00.12aZ"}) {
    EXPECT_EQ(parse_iso8601(text).error().code, Code::kInvalidArgument) << text;
  }
}

TEST(ToWords, UsesTheTwoLargestUnits) {
  const std::pair<Duration, const char*> cases[] = {
      {milliseconds(0), "0 ms"},     {milliseconds(999), "999 ms"},
      {milliseconds(1000), "1.0 s"}, {milliseconds(9999), "9.9 s"},
      {seconds(41), "41 s"},         {seconds(60), "1 min"},
      {seconds(125), "2 min 5 s"},   {minutes(60), "1 h"},
      {minutes(63), "1 h 3 min"},    {hours(100) + seconds(59), "100 h"}};
  for (const auto& [duration, words] : cases) EXPECT_EQ(to_words(duration), words);
}

TEST(SystemClock, NeverGoesBack) {
  const SystemClock clock;
  const Instant before = clock.now();
  EXPECT_GE(clock.now(), before);
  EXPECT_GT(clock.wall_now(), WallTime{hours(24 * 365 * 50)});
}

}  // namespace
}  // namespace gangrun::base
