#include "cli/moment.h"

#include <gtest/gtest.h>

namespace gangrun::cli {
namespace {

// Times without seconds were refused, though `history` took them.
TEST(Moment, IsADayOrATimeWithWhatIsKnownOfIt) {
  const auto at = [](const char* iso) { return *base::parse_iso8601(iso); };
  EXPECT_EQ(moment_from("2026-01-31"), at("2026-01-31T00:00:00.000Z"));
  for (const char* noon : {"2026-01-31T12:00", "2026-01-31T12:00Z", "2026-01-31T12:00:00",
                           "2026-01-31T12:00:00Z", "2026-01-31T12:00:00.000"}) {
    EXPECT_EQ(moment_from(noon), at("2026-01-31T12:00:00.000Z")) << noon;
  }
  EXPECT_EQ(moment_from("2026-01-31T12:00:00.250Z"), at("2026-01-31T12:00:00.250Z"));
  for (const char* other : {"", "Z", "2026-01-31Z12", "2026-01-31 12:00", "2026-1-31", "2026-13-31",
                            "2026-01-31T", "12:00", "2026-01-31T12:00:00.000ZZ"}) {
    EXPECT_EQ(moment_from(other), std::nullopt) << other;
  }
}

}  // namespace
}  // namespace gangrun::cli
