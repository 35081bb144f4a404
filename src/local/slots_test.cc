#include "local/slots.h"

#include <gmock/gmock.h>

namespace gangrun::local {
namespace {

using testing::ElementsAre;
using testing::Optional;

// As many takes as there are slots, and one more.
std::vector<std::string> all_of(Slots& slots) {
  std::vector<std::string> hosts;
  while (const auto host = slots.take("", {})) {
    hosts.push_back(*host);
    if (hosts.size() > 100) break;
  }
  return hosts;
}

TEST(Slots, AreGivenInTurn) {
  Slots slots({{"a", 2}, {"b", 3}, {"c", 1}});
  EXPECT_THAT(all_of(slots), ElementsAre("a", "b", "c", "a", "b", "b"));
}

TEST(Slots, AHostWithoutANumberTakesAny) {
  Slots slots({{"a", 1}, {"b", std::nullopt}});
  EXPECT_EQ(all_of(slots).size(), 101U);
}

TEST(Slots, WhatIsGivenBackIsTakenAgain) {
  Slots slots({{"a", 1}, {"b", 1}});
  EXPECT_EQ(all_of(slots).size(), 2U);
  slots.give_back("a");
  EXPECT_THAT(slots.take("", {}), Optional(std::string("a")));
  EXPECT_EQ(slots.take("", {}), std::nullopt);
}

TEST(Slots, ATaskComesBackToItsHostWhereThatHasRoom) {
  Slots slots({{"a", 2}, {"b", 1}});
  EXPECT_THAT(slots.take("b", {}), Optional(std::string("b")));
  EXPECT_THAT(slots.take("b", {}), Optional(std::string("a"))) << "full";
  EXPECT_THAT(slots.take("gone", {}), Optional(std::string("a"))) << "no host of this job";
  EXPECT_EQ(slots.take("b", {}), std::nullopt);
}

TEST(Slots, AHostThatCannotBeUsedIsPassedOver) {
  Slots slots({{"a", 2}, {"b", 2}});
  EXPECT_THAT(slots.take("a", {"a"}), Optional(std::string("b")));
  EXPECT_EQ(slots.take("a", {"a", "b"}), std::nullopt);
  // A look at it takes no slot.
  slots.give_back("b");
  EXPECT_THAT(all_of(slots), testing::UnorderedElementsAre("a", "a", "b", "b"));
}

TEST(Slots, WithoutHostsThereIsNothingToTake) {
  Slots slots({});
  EXPECT_EQ(slots.take("", {}), std::nullopt);
}

TEST(Slots, ATaskThatIsThereHasItsSlot) {
  Slots slots({{"a", 1}, {"b", 1}});
  EXPECT_TRUE(slots.take_back("a"));
  EXPECT_FALSE(slots.take_back("gone"));
  EXPECT_EQ(slots.take("a", {}), "b");
  slots.give_back("a");
  EXPECT_EQ(slots.take("a", {}), "a");
}

TEST(SlotsDeathTest, ASlotThatWasNotTakenIsNotGivenBack) {
  Slots slots({{"a", 1}});
  EXPECT_DEATH(slots.give_back("a"), "a");
}

}  // namespace
}  // namespace gangrun::local
