#include "client/allocation_limit.h"

#include <gmock/gmock.h>

namespace gangrun::client {
namespace {

using std::chrono::seconds;

job::JobStatus waiting() {
  job::JobStatus status;
  status.state = job::JobState::kAllocating;
  status.waiting_for = "a container";
  return status;
}

TEST(AllocationLimit, IsToldOnceWithWhatIsWaitedFor) {
  const base::Instant begin{};
  AllocationLimit limit(seconds(60), begin);
  EXPECT_EQ(limit.exceeded(waiting(), begin + seconds(60)), std::nullopt);
  EXPECT_EQ(limit.exceeded(waiting(), begin + seconds(61)),
            "the job's master did not start within 1 min; it waited for a container");
  EXPECT_EQ(limit.exceeded(waiting(), begin + seconds(62)), std::nullopt);
}

TEST(AllocationLimit, IsTheMastersOnceThereWasOne) {
  const base::Instant begin{};
  for (const bool by_folder : {true, false}) {
    AllocationLimit limit(seconds(1), begin);
    job::JobStatus seen = waiting();
    if (by_folder) {
      seen.folder = "/somewhere";
    } else {
      seen.state = job::JobState::kRunning;
    }
    EXPECT_FALSE(limit.is_settled());
    EXPECT_EQ(limit.exceeded(seen, begin), std::nullopt);
    EXPECT_TRUE(limit.is_settled());
    EXPECT_EQ(limit.exceeded(waiting(), begin + seconds(9)), std::nullopt);
  }
}

TEST(AllocationLimit, WithoutOneNothingIsTooLate) {
  AllocationLimit limit(std::nullopt, base::Instant{});
  EXPECT_EQ(limit.exceeded(waiting(), base::Instant{} + std::chrono::hours(9999)), std::nullopt);
}

}  // namespace
}  // namespace gangrun::client
