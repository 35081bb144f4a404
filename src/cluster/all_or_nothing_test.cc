#include "cluster/all_or_nothing.h"

#include <gtest/gtest.h>

namespace gangrun::cluster {
namespace {

using std::chrono::seconds;

constexpr base::Instant kStart{seconds(1000)};

AllOrNothing::Options options(double random = 0) {
  return {.hold = seconds(60),
          .shortest_pause = seconds(1),
          .longest_pause = seconds(11),
          .random = [random] { return random; }};
}

TEST(AllOrNothing, APartIsHeldForSoLongFromTheFirstPlace) {
  AllOrNothing parts(options());
  EXPECT_EQ(parts.give_back_at(), std::nullopt);
  parts.on_held(1, kStart);
  parts.on_held(2, kStart + seconds(40));
  EXPECT_EQ(parts.give_back_at(), kStart + seconds(60));
  parts.on_held(1, kStart + seconds(50));
  EXPECT_EQ(parts.give_back_at(), kStart + seconds(60));
}

TEST(AllOrNothing, AFurtherPlaceMayBeginThatTimeAnew) {
  AllOrNothing::Options renewed = options();
  renewed.is_renewed = true;
  AllOrNothing parts(renewed);
  parts.on_held(1, kStart);
  parts.on_held(2, kStart + seconds(40));
  EXPECT_EQ(parts.give_back_at(), kStart + seconds(100));
  // One that is lost and comes again is none.
  parts.on_held(1, kStart + seconds(50));
  parts.on_held(2, kStart + seconds(55));
  EXPECT_EQ(parts.give_back_at(), kStart + seconds(100));
}

TEST(AllOrNothing, WhoHoldsNothingHasNothingToGiveBack) {
  AllOrNothing parts(options());
  parts.on_held(1, kStart);
  parts.on_none_held();
  EXPECT_EQ(parts.give_back_at(), std::nullopt);
  parts.on_held(1, kStart + seconds(10));
  parts.on_held(0, kStart + seconds(15));
  EXPECT_EQ(parts.give_back_at(), std::nullopt);
  parts.on_held(1, kStart + seconds(20));
  EXPECT_EQ(parts.give_back_at(), kStart + seconds(80));
}

TEST(AllOrNothing, AsksAgainAfterARandomPause) {
  AllOrNothing parts(options(0.5));
  EXPECT_EQ(parts.ask_again_at(), std::nullopt);
  for (int round = 0; round < 3; ++round) {
    parts.on_held(1, kStart);
    EXPECT_EQ(parts.give_back(kStart), seconds(6));
    EXPECT_EQ(parts.give_back_at(), std::nullopt);
    parts.on_time(kStart + seconds(5));
    EXPECT_EQ(parts.ask_again_at(), kStart + seconds(6));
    parts.on_time(kStart + seconds(6));
    EXPECT_EQ(parts.ask_again_at(), std::nullopt);
  }
}

TEST(AllOrNothing, ThePauseMayGetLonger) {
  AllOrNothing::Options longer = options();
  double random = 0;
  longer.random = [&random] { return random; };
  longer.doubles_up_to = seconds(30);
  AllOrNothing parts(longer);
  EXPECT_EQ(parts.give_back(kStart), seconds(1));
  EXPECT_EQ(parts.give_back(kStart), seconds(2));
  random = 1;
  EXPECT_EQ(parts.give_back(kStart), seconds(11));
  random = 0;
  EXPECT_EQ(parts.give_back(kStart), seconds(22));
  EXPECT_EQ(parts.give_back(kStart), seconds(30));
  EXPECT_EQ(parts.give_back(kStart), seconds(30));
}

}  // namespace
}  // namespace gangrun::cluster
