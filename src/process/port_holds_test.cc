#include "process/port_holds.h"

#include <gmock/gmock.h>

#include <set>

#include "process/test_bind.h"

namespace gangrun::process {
namespace {

using base::UniqueFd;
using testing::HasSubstr;
using testing::SizeIs;

std::set<std::uint16_t> as_set(const PortHolds& holds) {
  return {holds.numbers().begin(), holds.numbers().end()};
}

TEST(PortHolds, AreAllDifferentAndHeld) {
  const auto holds = PortHolds::take(64, std::nullopt);
  ASSERT_TRUE(holds.ok()) << holds.error().message;
  EXPECT_THAT(as_set(*holds), SizeIs(64));
  EXPECT_THAT(holds->fds(), SizeIs(64));
  for (const std::uint16_t port : holds->numbers()) EXPECT_FALSE(bind_beside(port, {}).valid());
}

TEST(PortHolds, TheFirstIsTheWantedOneOrSaysWhyNot) {
  auto first = PortHolds::take(1, std::nullopt);
  const std::uint16_t port = first->numbers().front();
  first->release();
  const auto again = PortHolds::take(2, port);
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(again->numbers().front(), port);
  EXPECT_EQ(again->not_wanted_because(), "");
  first->release();

  auto other = PortHolds::take(1, std::nullopt);
  const std::uint16_t taken = other->numbers().front();
  other->release();
  const UniqueFd server = bind_beside(taken, {});
  ASSERT_TRUE(server.valid());
  const auto without = PortHolds::take(1, taken);
  ASSERT_TRUE(without.ok());
  EXPECT_NE(without->numbers().front(), taken);
  EXPECT_THAT(without->not_wanted_because(), HasSubstr(std::to_string(taken)));
}

TEST(PortHolds, OthersShareNoNumberEvenWithReleasedOnes) {
  auto holds = PortHolds::take(5, std::nullopt);
  for (int round = 0; round < 20; ++round) {
    const auto others = holds->others();
    ASSERT_TRUE(others.ok());
    EXPECT_THAT(others->numbers(), SizeIs(5));
    EXPECT_THAT(others->fds(), SizeIs(5));
    for (const std::uint16_t port : others->numbers()) {
      EXPECT_FALSE(as_set(*holds).contains(port));
    }
    holds->release();
  }
}

TEST(PortHolds, AfterReleaseAPlainBindSucceedsAndHoldingAgainIsAllOrNothing) {
  auto holds = PortHolds::take(2, std::nullopt);
  const std::vector<std::uint16_t> numbers = holds->numbers();
  holds->release();
  EXPECT_THAT(holds->fds(), SizeIs(0));
  EXPECT_EQ(holds->numbers(), numbers);
  {
    const UniqueFd server = bind_beside(numbers[1], {});
    ASSERT_TRUE(server.valid());
    const auto refused = holds->hold_again();
    ASSERT_FALSE(refused.ok());
    EXPECT_THAT(holds->fds(), SizeIs(0));
    EXPECT_TRUE(bind_beside(numbers[0], {}).valid()) << "a half hold is none";
  }
  const auto held = holds->hold_again();
  ASSERT_TRUE(held.ok()) << held.error().message;
  EXPECT_THAT(holds->fds(), SizeIs(2));
  EXPECT_FALSE(bind_beside(numbers[0], {}).valid());
}

}  // namespace
}  // namespace gangrun::process
