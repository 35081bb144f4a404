#include "ssh/host_slots.h"

#include <gtest/gtest.h>

namespace gangrun::ssh {
namespace {

std::vector<std::size_t> take_all(HostSlots& slots, int count) {
  std::vector<std::size_t> taken;
  for (int i = 0; i < count; ++i) taken.push_back(slots.take("", {}).value_or(99));
  return taken;
}

TEST(HostSlots, FillsOneHostAfterAnother) {
  HostSlots slots({{"h1", 2}, {"h2", 2}}, 4);
  EXPECT_EQ(take_all(slots, 5), (std::vector<std::size_t>{0, 0, 1, 1, 99}));
}

TEST(HostSlots, HostsWithoutANumberShareWhatIsLeft) {
  HostSlots slots({{"h1", std::nullopt}, {"h2", 2}, {"h3", std::nullopt}}, 7);
  EXPECT_EQ(take_all(slots, 7), (std::vector<std::size_t>{0, 0, 0, 1, 1, 2, 2}));
  // They take any number where the shares are taken.
  EXPECT_EQ(slots.take("", {}), 0U);
  EXPECT_EQ(slots.take("", {"h1"}), 2U);
  EXPECT_EQ(slots.take("", {"h1", "h3"}), std::nullopt);
}

TEST(HostSlots, GoesBackToTheHostThatIsWanted) {
  HostSlots slots({{"h1", 2}, {"h2", 2}}, 4);
  EXPECT_EQ(slots.take("h2", {}), 1U);
  EXPECT_EQ(slots.take("h2", {"h2"}), 0U);
  EXPECT_EQ(slots.take("h2", {}), 1U);
  // It is full.
  EXPECT_EQ(slots.take("h2", {}), 0U);
  slots.give_back(1);
  EXPECT_EQ(slots.take("", {}), 1U);
}

TEST(HostSlots, CountsWhatIsThereAlready) {
  HostSlots slots({{"h1", 1}, {"h2", 1}}, 2);
  slots.take_back(0);
  EXPECT_EQ(slots.take("h1", {}), 1U);
}

}  // namespace
}  // namespace gangrun::ssh
