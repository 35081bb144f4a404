#include <gtest/gtest.h>

#include "kubernetes/pods/job_objects.h"

namespace gangrun::kubernetes::pods {
namespace {

using base::Json;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr base::Instant kNow{seconds(1000)};

Json job(const std::string& written) {
  return {{"metadata",
           {{"creationTimestamp", "2026-01-31T12:00:00Z"},
            {"managedFields", {{{"time", written}}, {{"manager", "x"}}}}}},
          {"spec", {{"activeDeadlineSeconds", 90}}},
          {"status", {{"startTime", "2026-01-31T12:00:01Z"}}}};
}

TEST(LeaseClock, CountsByTheServersClock) {
  LeaseClock clock;
  EXPECT_EQ(clock.deadline_seconds(seconds(60), kNow), 61);
  clock.wrote(job("2026-01-31T12:00:21Z"), kNow);
  EXPECT_EQ(clock.deadline_seconds(seconds(60), kNow), 20 + 61);
  EXPECT_EQ(clock.deadline_seconds(seconds(60), kNow + milliseconds(20'100)), 20 + 21 + 61);
}

TEST(LeaseClock, OneThatWasFoundIsNotOlderThanItsDeadline) {
  LeaseClock clock;
  clock.found(job("2026-01-31T12:00:21Z"));
  EXPECT_EQ(clock.deadline_seconds(seconds(60), kNow), 90 + 61);
  clock.wrote(job("2026-01-31T12:01:01Z"), kNow);
  EXPECT_EQ(clock.deadline_seconds(seconds(60), kNow), 60 + 61);
}

TEST(LeaseClock, AnythingMayBeMissing) {
  LeaseClock clock;
  for (const Json& odd : {Json(), Json::array(), Json{{"metadata", 1}, {"spec", 2}}}) {
    clock.wrote(odd, kNow);
    clock.found(odd);
    EXPECT_FALSE(is_lease_over(odd));
  }
  EXPECT_EQ(clock.deadline_seconds(seconds(60), kNow + seconds(5)), 66);
}

TEST(IsLeaseOver, ByTheJobsCondition) {
  Json ended = job("2026-01-31T12:00:21Z");
  EXPECT_FALSE(is_lease_over(ended));
  ended["status"]["conditions"] = {{{"type", "Failed"}, {"status", "True"}}};
  EXPECT_TRUE(is_lease_over(ended));
}

}  // namespace
}  // namespace gangrun::kubernetes::pods
