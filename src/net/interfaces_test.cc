#include "net/interfaces.h"

#include <gmock/gmock.h>

namespace gangrun::net {
namespace {

using testing::Contains;
using testing::HasSubstr;

const std::vector<InterfaceAddress> kSome = {
    {"lo", "127.0.0.1"}, {"eth0", "10.1.0.5"}, {"eth1", "10.200.0.7"},  {"eth1", "192.168.3.4"},
    {"lo", "::1"},       {"eth0", "fd00::5"},  {"eth1", "2001:db8::7"},
};

struct Case {
  std::string wanted;
  std::string address;
  std::string reason;
};

TEST(ChooseAddress, ByInterfaceOrNetwork) {
  const Case cases[] = {
      {"eth0", "10.1.0.5", "of eth0, the first of 2: eth0 10.1.0.5, eth0 fd00::5"},
      {"10.1.0.0/16", "10.1.0.5", "of eth0, in 10.1.0.0/16"},
      {"10.0.0.0/8", "10.1.0.5",
       "of eth0, in 10.0.0.0/8, the first of 2: eth0 10.1.0.5, eth1 10.200.0.7"},
      {"10.128.0.0/9", "10.200.0.7", "of eth1, in 10.128.0.0/9"},
      {"192.168.3.4", "192.168.3.4", "of eth1, in 192.168.3.4"},
      {"192.168.3.4/32", "192.168.3.4", "of eth1, in 192.168.3.4/32"},
      {"127.0.0.0/8", "127.0.0.1", "of lo, in 127.0.0.0/8"},
      {"fd00::/8", "fd00::5", "of eth0, in fd00::/8"},
      {"2000::/3", "2001:db8::7", "of eth1, in 2000::/3"},
      {"::1", "::1", "of lo, in ::1"},
      {"::/0", "::1", "of lo, in ::/0, the first of 3: lo ::1, eth0 fd00::5, eth1 2001:db8::7"},
  };
  for (const Case& c : cases) {
    const auto chosen = choose_address(kSome, c.wanted);
    ASSERT_TRUE(chosen.ok()) << chosen.error().message;
    EXPECT_EQ(*chosen, (ChosenAddress{c.address, c.reason}));
  }
}

TEST(ChooseAddress, TellsWhatThereIs) {
  const std::string all =
      "; allowed: an interface or network of lo 127.0.0.1, eth0 10.1.0.5, eth1 10.200.0.7, eth1 "
      "192.168.3.4, lo ::1, eth0 fd00::5, eth1 2001:db8::7";
  EXPECT_EQ(choose_address(kSome, "eth2").error().message,
            "no interface 'eth2' is up and has an address" + all);
  EXPECT_EQ(choose_address(kSome, "172.16.0.0/12").error().message,
            "no interface that is up has an address in 172.16.0.0/12" + all);
  EXPECT_THAT(choose_address({}, "eth0").error().message, HasSubstr("network of none"));
}

TEST(ChooseAddress, RefusesWhatIsNoNetwork) {
  for (const std::string wanted : {"10.0.0.0/33", "10.0.0.0/", "10.0.0.0/-1", "10.0.0.0/8x",
                                   "eth0/8", "/8", "fd00::/129", "10.0.0/8"}) {
    const auto chosen = choose_address(kSome, wanted);
    ASSERT_FALSE(chosen.ok()) << wanted;
    EXPECT_EQ(chosen.error().code, base::Code::kInvalidArgument);
    EXPECT_THAT(chosen.error().message, HasSubstr("'" + wanted + "' is not a network: "));
  }
}

TEST(InterfaceAddresses, HaveLoopbackAndNoLinkLocalOnes) {
  const auto addresses = interface_addresses();
  EXPECT_THAT(addresses, Contains(InterfaceAddress{"lo", "127.0.0.1"}));
  for (const auto& [interface, address] : addresses) {
    EXPECT_FALSE(address.starts_with("fe80:") || address.starts_with("169.254.")) << interface;
  }
}

TEST(LocalAddresses, AreThoseThatOthersMayReach) {
  std::vector<std::string> reachable;
  for (const auto& [interface, address] : interface_addresses()) {
    if (interface != "lo") reachable.push_back(address);
  }
  EXPECT_EQ(local_addresses(), reachable);
}

TEST(HasLink, OnlyWhereTheAddressIsOurs) {
  EXPECT_TRUE(has_link("127.0.0.1"));
  EXPECT_FALSE(has_link("192.0.2.77"));
}

TEST(InterfaceOf, IsFoundByTheAddress) {
  EXPECT_EQ(interface_of("127.0.0.1"), "lo");
  EXPECT_EQ(interface_of("127.0.0.77"), "lo");
  EXPECT_EQ(interface_of("192.0.2.77"), "");
  EXPECT_EQ(interface_of("not-an-address"), "");
}

}  // namespace
}  // namespace gangrun::net
