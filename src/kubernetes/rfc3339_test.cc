#include "kubernetes/rfc3339.h"

#include <gmock/gmock.h>

namespace gangrun::kubernetes {
namespace {

std::string read_time(std::string_view text) {
  const auto time = parse_rfc3339(text);
  return time ? base::to_iso8601(*time) : "none";
}

TEST(ParseRfc3339, TakesFractionsAndZones) {
  EXPECT_EQ(read_time("2026-01-31T12:00:00Z"), "2026-01-31T12:00:00.000Z");
  EXPECT_EQ(read_time("2026-01-31T12:00:00.5Z"), "2026-01-31T12:00:00.500Z");
  EXPECT_EQ(read_time("2026-01-31T12:00:00.123456789Z"), "2026-01-31T12:00:00.123Z");
  EXPECT_EQ(read_time("2026-01-31T12:00:00+05:30"), "2026-01-31T06:30:00.000Z");
  EXPECT_EQ(read_time("2026-01-31T23:00:00.25-02:00"), "2026-02-01T01:00:00.250Z");
}

TEST(ParseRfc3339, KeepsNanoseconds) {
  const auto whole = parse_rfc3339("2026-01-31T12:00:00Z");
  const auto later = parse_rfc3339("2026-01-31T12:00:00.000000007Z");
  ASSERT_TRUE(whole && later);
  EXPECT_EQ(*later - *whole, std::chrono::nanoseconds(7));
}

TEST(ParseRfc3339, RefusesAllElse) {
  for (const char* text :
       {"", "Z", "2026-01-31T12:00:00", "2026-01-31T12:00:00.Z", "2026-01-31 12:00:00Z",
        "2026-02-31T12:00:00Z", "2026-01-31T12:00:00z", "2026-01-31T12:00:00+0100",
        "2026-01-31T12:00:00+24:00", "2026-01-31T12:00:00+01:60", "2026-01-31T12:00:00 01:00",
        "2026-01-31T12:00:00Zx", "1969-01-31T12:00:00Z", "9999-01-31T12:00:00Z",
        "tomorrow, or a little later"}) {
    EXPECT_EQ(read_time(text), "none") << text;
  }
}

}  // namespace
}  // namespace gangrun::kubernetes
