#include "zookeeper/servers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gangrun::zookeeper {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

base::Instant soon() { return std::chrono::steady_clock::now() + std::chrono::seconds(30); }

TEST(Servers, NumbersStayAndNamesBecomeNumbers) {
  const auto servers = numeric_servers({"127.0.0.1:2181", "[::1]:2182", "localhost:2183"}, soon());
  ASSERT_TRUE(servers.ok()) << servers.error().message;
  EXPECT_THAT(*servers, Contains("127.0.0.1:2181"));
  EXPECT_THAT(*servers, Contains("::1:2182"));
  EXPECT_THAT(*servers, Contains("127.0.0.1:2183"));
}

TEST(Servers, ANameThatDoesNotResolveIsLeftOutBesideOneThatDoes) {
  const auto servers = numeric_servers({"no.such.invalid:2181", "127.0.0.1:2182"}, soon());
  ASSERT_TRUE(servers.ok()) << servers.error().message;
  EXPECT_THAT(*servers, ElementsAre("127.0.0.1:2182"));
}

TEST(Servers, OnlyNamesThatDoNotResolveAreAnError) {
  const auto servers = numeric_servers({"no.such.invalid:2181"}, soon());
  ASSERT_FALSE(servers.ok());
  EXPECT_THAT(servers.error().message, HasSubstr("no.such.invalid"));
}

TEST(Servers, WithoutAPortItIsTheOneOfZooKeeper) {
  const auto servers = numeric_servers({"127.0.0.1", "[::1]"}, soon());
  ASSERT_TRUE(servers.ok()) << servers.error().message;
  EXPECT_THAT(*servers, ElementsAre("127.0.0.1:2181", "::1:2181"));
}

}  // namespace
}  // namespace gangrun::zookeeper
