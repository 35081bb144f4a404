#include "local/host_choice.h"

#include <gmock/gmock.h>

#include <set>

namespace gangrun::local {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// The results of looks at hosts: those in `unusable` have trouble.
struct Looks {
  std::set<std::string> unusable;
  std::vector<std::string> seen;

  HostChoice::LookAt at() {
    return [this](const std::string& host) -> base::Result<std::string> {
      seen.push_back(host);
      if (unusable.contains(host)) return base::unavailable("its link is down");
      return "address of " + host;
    };
  }
};

std::string taken(base::Result<std::string> host) {
  return host.ok() ? *host : "none: " + host.error().message;
}

TEST(HostChoice, WithoutHostsTheTaskIsWhereWeAre) {
  HostChoice choice({});
  Looks looks;
  EXPECT_EQ(taken(choice.take(std::nullopt, {"a"}, looks.at())), "");
  EXPECT_THAT(looks.seen, ElementsAre());
  choice.give_back("");  // as was taken
  EXPECT_FALSE(choice.take_back(""));
}

// As many takes as there are slots, and one more.
std::vector<std::string> all_of(HostChoice& choice) {
  std::vector<std::string> hosts;
  Looks looks;
  for (int i = 0; i < 100; ++i) {
    const auto host = choice.take(std::nullopt, {}, looks.at());
    if (!host.ok()) break;
    hosts.push_back(*host);
  }
  return hosts;
}

TEST(HostChoice, SlotsAreGivenInTurn) {
  HostChoice choice({{"a", 2}, {"b", 3}, {"c", 1}});
  EXPECT_THAT(all_of(choice), ElementsAre("a", "b", "c", "a", "b", "b"));
}

TEST(HostChoice, AHostWithoutANumberTakesAny) {
  HostChoice choice({{"a", 1}, {"b", std::nullopt}});
  EXPECT_EQ(all_of(choice).size(), 100U);
}

TEST(HostChoice, ATaskThatIsThereHasItsSlot) {
  HostChoice choice({{"a", 1}, {"b", 1}});
  EXPECT_TRUE(choice.take_back("a"));
  EXPECT_FALSE(choice.take_back("gone"));
  EXPECT_THAT(all_of(choice), ElementsAre("b"));
  choice.give_back("a");
  EXPECT_THAT(all_of(choice), ElementsAre("a"));
}

TEST(HostChoiceDeathTest, ASlotThatWasNotTakenIsNotGivenBack) {
  HostChoice choice({{"a", 1}});
  EXPECT_DEATH(choice.give_back("a"), "a");
}

TEST(HostChoice, ATaskComesBackToTheHostThatHadItsAddress) {
  HostChoice choice({{"a", 2}, {"b", 2}});
  Looks looks;
  EXPECT_EQ(taken(choice.take(std::nullopt, {}, looks.at())), "a");
  EXPECT_EQ(taken(choice.take(job::Address{"address of a", 1}, {}, looks.at())), "a");
  // It is full, and an address that no host ever had is no wish.
  EXPECT_EQ(taken(choice.take(job::Address{"address of a", 1}, {}, looks.at())), "b");
  EXPECT_EQ(taken(choice.take(job::Address{"address of c", 1}, {}, looks.at())), "b");
}

TEST(HostChoice, AvoidsHostsAsLongAsThereIsAnother) {
  HostChoice choice({{"a", 1}, {"b", 1}});
  Looks looks;
  EXPECT_EQ(taken(choice.take(std::nullopt, {"a"}, looks.at())), "b");
  EXPECT_EQ(taken(choice.take(std::nullopt, {"a"}, looks.at())), "a");
  EXPECT_EQ(taken(choice.take(std::nullopt, {"a"}, looks.at())),
            "none: all slots of the hosts are taken");
}

TEST(HostChoice, AnAvoidedHostIsNotTakenForItsAddressEither) {
  HostChoice choice({{"a", 2}, {"b", 2}});
  Looks looks;
  ASSERT_EQ(taken(choice.take(std::nullopt, {}, looks.at())), "a");
  EXPECT_EQ(taken(choice.take(job::Address{"address of a", 1}, {"a"}, looks.at())), "b");
}

TEST(HostChoice, WhatCannotBeUsedIsPassedOverAndKeepsItsSlots) {
  HostChoice choice({{"a", 1}, {"b", 1}});
  Looks looks{{"a"}, {}};
  EXPECT_EQ(taken(choice.take(std::nullopt, {}, looks.at())), "b");
  EXPECT_EQ(taken(choice.take(std::nullopt, {}, looks.at())),
            "none: host a cannot be used: its link is down");
  looks.unusable.clear();
  EXPECT_EQ(taken(choice.take(std::nullopt, {}, looks.at())), "a");
}

TEST(HostChoice, LooksAtEachHostOnceWhereNoneCanBeUsed) {
  HostChoice choice({{"a", 1}, {"b", std::nullopt}});
  Looks looks{{"a", "b"}, {}};
  EXPECT_THAT(taken(choice.take(std::nullopt, {"b"}, looks.at())), HasSubstr("host b cannot"));
  EXPECT_THAT(looks.seen, ElementsAre("a", "b"));
}

TEST(HostChoice, ASlotIsFreeAgainWhenItIsGivenBack) {
  HostChoice choice({{"a", 1}});
  Looks looks;
  ASSERT_TRUE(choice.take_back("a"));
  EXPECT_FALSE(choice.take_back("b"));
  EXPECT_THAT(taken(choice.take(std::nullopt, {}, looks.at())), HasSubstr("none"));
  choice.give_back("a");
  EXPECT_EQ(taken(choice.take(std::nullopt, {}, looks.at())), "a");
}

}  // namespace
}  // namespace gangrun::local
