#include "net/strangers.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>

#include <cstring>

#include "net/address_internal.h"

namespace gangrun::net {
namespace {

constexpr base::Instant kStart{};

std::string source(const std::string& address) {
  sockaddr_storage storage{};
  const auto made = ip_address(address, 1);
  std::memcpy(&storage, made->get(), made->size);
  return source_of(storage);
}

TEST(Strangers, ASourceIsAHost) {
  EXPECT_EQ(source("10.0.0.7"), "10.0.0.7");
  EXPECT_EQ(source("::ffff:10.0.0.7"), "10.0.0.7");
  EXPECT_EQ(source("::1"), "::1");
  // Whoever has one address of such a network has them all.
  EXPECT_EQ(source("fd00:1:2:3:4:5:6:7"), "fd00:1:2:3::/64");
  EXPECT_EQ(source("fd00:1:2:3:ffff::"), "fd00:1:2:3::/64");
}

TEST(Strangers, ASourceHasHalfOfTheShareAndLeavesTheRestToOthers) {
  Strangers strangers;
  strangers.limit(4);
  EXPECT_TRUE(strangers.come(1, "a", kStart).welcome);
  EXPECT_TRUE(strangers.come(2, "a", kStart).welcome);
  const auto refused = strangers.come(3, "a", kStart);
  EXPECT_FALSE(refused.welcome);
  EXPECT_TRUE(refused.crowded());
  EXPECT_EQ(strangers.of("a"), 2U);
  EXPECT_TRUE(strangers.come(4, "b", kStart).welcome);
  EXPECT_FALSE(strangers.full(kStart));
  EXPECT_TRUE(strangers.come(5, "b", kStart).welcome);
  EXPECT_TRUE(strangers.full(kStart));
}

TEST(Strangers, WhoHasShownThatHeMayBeThereTakesNoRoom) {
  Strangers strangers;
  strangers.limit(2);
  EXPECT_TRUE(strangers.come(1, "a", kStart).welcome);
  EXPECT_FALSE(strangers.come(2, "a", kStart).welcome);
  strangers.leave(1);
  strangers.leave(1);
  strangers.leave(7);
  EXPECT_EQ(strangers.size(), 0U);
  EXPECT_EQ(strangers.of("a"), 0U);
  EXPECT_TRUE(strangers.come(3, "a", kStart).welcome);
}

TEST(Strangers, TheOldestOfAFullSourceGivesWayAfterAWhile) {
  Strangers strangers;
  strangers.limit(4);
  strangers.come(1, "b", kStart);
  strangers.come(2, "a", kStart);
  strangers.come(3, "a", kStart + base::seconds(1));
  EXPECT_TRUE(strangers.has_room("a", kStart + Strangers::kPatience));
  const auto late = strangers.come(4, "a", kStart + Strangers::kPatience);
  EXPECT_TRUE(late.welcome);
  EXPECT_TRUE(late.crowded());
  EXPECT_EQ(late.gives_way, 2U);
  EXPECT_EQ(strangers.of("a"), 2U);
  // The next one is not there for long enough.
  EXPECT_FALSE(strangers.has_room("a", kStart + Strangers::kPatience));
  EXPECT_TRUE(strangers.has_room("b", kStart + Strangers::kPatience));
  EXPECT_FALSE(strangers.come(5, "a", kStart + Strangers::kPatience).welcome);
}

TEST(Strangers, TheOldestOfAllGivesWayWhereAllAreThere) {
  Strangers strangers;
  strangers.limit(2);
  strangers.come(1, "a", kStart);
  strangers.come(2, "b", kStart);
  EXPECT_TRUE(strangers.full(kStart));
  const base::Instant later = kStart + Strangers::kPatience;
  EXPECT_FALSE(strangers.full(later));
  const auto next = strangers.come(3, "c", later);
  EXPECT_TRUE(next.welcome);
  EXPECT_EQ(next.gives_way, 1U);
  EXPECT_EQ(strangers.size(), 2U);
}

TEST(Strangers, AShareOfOneIsForOne) {
  Strangers strangers;
  strangers.limit(1);
  EXPECT_TRUE(strangers.come(1, "a", kStart).welcome);
  EXPECT_FALSE(strangers.come(2, "b", kStart).welcome);
  EXPECT_TRUE(strangers.full(kStart));
}

}  // namespace
}  // namespace gangrun::net
