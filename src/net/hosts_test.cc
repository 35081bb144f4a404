#include "net/hosts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "net/test_support_internal.h"

namespace gangrun::net {
namespace {

using testing::AnyOf;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(Hosts, NumericAddressesAreThemselves) {
  EXPECT_THAT(*resolve("10.1.2.3", test_deadline()), ElementsAre("10.1.2.3"));
  EXPECT_THAT(*resolve("::1", test_deadline()), ElementsAre("::1"));
}

TEST(Hosts, LocalhostResolvesToLoopback) {
  const auto addresses = resolve("localhost", test_deadline());
  ASSERT_TRUE(addresses.ok()) << addresses.error().message;
  for (const std::string& address : *addresses) EXPECT_TRUE(is_loopback_address(address));
}

TEST(Hosts, ANameThatDoesNotResolveIsNamedInTheError) {
  const auto addresses = resolve("no-such-host.invalid", test_deadline());
  ASSERT_FALSE(addresses.ok());
  EXPECT_THAT(addresses.error().message, HasSubstr("no-such-host.invalid"));
  EXPECT_THAT(addresses.error().code, AnyOf(base::Code::kNotFound, base::Code::kUnavailable));
}

TEST(Hosts, BadNamesAndPastDeadlinesAreRefused) {
  EXPECT_EQ(resolve("", test_deadline()).error().code, base::Code::kInvalidArgument);
  EXPECT_EQ(resolve(std::string(300, 'a'), test_deadline()).error().code,
            base::Code::kInvalidArgument);
  EXPECT_EQ(resolve("somewhere", base::Instant{}).error().code, base::Code::kDeadlineExceeded);
}

TEST(Hosts, TheRouteToLoopbackIsLoopback) {
  EXPECT_EQ(*local_address_toward("127.0.0.1"), "127.0.0.1");
  EXPECT_EQ(local_address_toward("localhost").error().code, base::Code::kInvalidArgument);
}

TEST(Hosts, HostAndPort) {
  EXPECT_EQ(host_port("h", 80), "h:80");
  EXPECT_EQ(host_port("::1", 80), "[::1]:80");
}

}  // namespace
}  // namespace gangrun::net
