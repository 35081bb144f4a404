#include <gtest/gtest.h>

#include "local/this_machine.h"

namespace gangrun::local {
namespace {

TEST(ContainmentChoice, IsALevelThatTheHostPermits) {
  const auto best = choose_containment(job::Containment::kAuto);
  ASSERT_TRUE(best.ok()) << best.error().message;
  EXPECT_NE(*best, job::Containment::kAuto);
  const auto again = choose_containment(*best);
  ASSERT_TRUE(again.ok()) << again.error().message;
  EXPECT_EQ(*again, *best);
}

TEST(ContainmentChoice, IsTheOneThatIsWanted) {
  const auto least = choose_containment(job::Containment::kSubreaper);
  ASSERT_TRUE(least.ok()) << least.error().message;
  EXPECT_EQ(*least, job::Containment::kSubreaper);
}

}  // namespace
}  // namespace gangrun::local
