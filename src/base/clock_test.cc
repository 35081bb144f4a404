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
