#include "ssh/host_addresses.h"

#include <gmock/gmock.h>

namespace gangrun::ssh {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

SeenHost host(const std::string& name, const std::string& address,
              const std::vector<std::string>& own = {}, const std::string& network = "") {
  return {name, {address, "as ssh reached it"}, own, network.empty() ? name : network};
}

std::vector<std::string> addresses(const std::vector<SeenHost>& hosts) {
  const auto chosen = choose_addresses(hosts, "");
  if (!chosen.ok()) return {"error: " + chosen.error().message};
  std::vector<std::string> all;
  for (const auto& each : chosen->of_hosts) all.push_back(each.address);
  return all;
}

std::string error_of(const std::vector<SeenHost>& hosts, const std::string& interface = "") {
  const auto chosen = choose_addresses(hosts, interface);
  return chosen.ok() ? "" : chosen.error().message;
}

TEST(HostAddresses, AreThoseThatSshReached) {
  const auto chosen = choose_addresses({host("a", "10.0.0.1"), host("b", "fd00::2")}, "");
  ASSERT_TRUE(chosen.ok());
  EXPECT_EQ(chosen->of_hosts[1], (net::ChosenAddress{"fd00::2", "as ssh reached it"}));
  EXPECT_THAT(chosen->remarks, IsEmpty());
  EXPECT_THAT(addresses({}), IsEmpty());
}

// The tasks of the other host were told that the first one is at 127.0.0.1.
TEST(HostAddresses, BesideAnotherHostALoopbackAddressIsReplaced) {
  const auto chosen =
      choose_addresses({host("localhost", "127.0.0.1", {"192.0.2.7", "10.0.0.1", "fd00::1"}),
                        host("far", "10.0.0.2")},
                       "");
  ASSERT_TRUE(chosen.ok()) << chosen.error().message;
  EXPECT_EQ(chosen->of_hosts[0],
            (net::ChosenAddress{"10.0.0.1",
                                "as host far cannot reach 127.0.0.1, by which ssh reached it"}));
  EXPECT_EQ(chosen->of_hosts[1].address, "10.0.0.2");
  EXPECT_THAT(chosen->remarks,
              ElementsAre("host localhost is known to the others by its address 10.0.0.1, as host "
                          "far cannot reach 127.0.0.1, by which ssh reached it"));
}

TEST(HostAddresses, TheOneThatIsNearestToTheOthersIsTaken) {
  EXPECT_THAT(addresses({host("l", "::1", {"10.0.0.1", "fd00::1"}), host("f", "fd00::2")}),
              ElementsAre("fd00::1", "fd00::2"));
  EXPECT_THAT(
      addresses({host("l", "127.0.0.1", {"172.17.0.1", "10.1.2.3"}), host("f", "10.1.9.9")}),
      ElementsAre("10.1.2.3", "10.1.9.9"));
  // One that is of another family than all of its own.
  EXPECT_THAT(addresses({host("l", "127.0.0.1", {"10.0.0.1"}), host("f", "fd00::2")}),
              ElementsAre("10.0.0.1", "fd00::2"));
}

TEST(HostAddresses, LoopbackOfSeveralMachinesIsReplacedOnAll) {
  EXPECT_THAT(
      addresses({host("a", "127.0.0.1", {"10.0.0.1"}), host("b", "127.0.0.1", {"10.0.0.2"})}),
      ElementsAre("10.0.0.1", "10.0.0.2"));
}

TEST(HostAddresses, OneMachineWithBothKindsHasNoLoopbackAddress) {
  EXPECT_THAT(addresses({host("localhost", "127.0.0.1", {"10.0.0.1"}, "m"),
                         host("lan", "10.0.0.1", {"10.0.0.1"}, "m")}),
              ElementsAre("10.0.0.1", "10.0.0.1"));
}

TEST(HostAddresses, AllOnLoopbackIsForTrials) {
  const auto chosen = choose_addresses(
      {host("a", "127.0.0.1", {"10.0.0.1"}, "m"), host("b", "127.0.0.2", {"10.0.0.1"}, "m")}, "");
  ASSERT_TRUE(chosen.ok());
  EXPECT_EQ(chosen->of_hosts[1].address, "127.0.0.2");
  EXPECT_THAT(
      chosen->remarks,
      ElementsAre("all hosts are one machine, known by its loopback addresses (a 127.0.0.1, "
                  "b 127.0.0.2): good for trials, as no other machine reaches them"));
  EXPECT_THAT(choose_addresses({host("a", "127.0.0.1")}, "")->remarks, IsEmpty());
}

TEST(HostAddresses, ALoopbackAddressThatCannotBeReplacedIsAnError) {
  EXPECT_EQ(
      error_of({host("near", "127.0.0.1"), host("far", "10.0.0.2")}),
      "hosts: host near: its address 127.0.0.1 (\"as ssh reached it\") is a loopback address, "
      "which host far cannot reach, and it has no other; allowed: hosts that all the others "
      "reach");
  EXPECT_THAT(
      error_of({host("a", "127.0.0.1", {"10.0.0.1"}), host("b", "127.0.0.1", {"10.0.0.2"})}, "lo"),
      HasSubstr("interface: 'lo': host a: its address 127.0.0.1"));
}

// A bridge for containers has the same address everywhere.
TEST(HostAddresses, OneAddressTwiceIsAnErrorUnlessItIsOneMachine) {
  EXPECT_EQ(
      error_of({host("a", "172.17.0.1"), host("b", "10.0.0.2"), host("c", "172.17.0.1")}),
      "hosts: a and c are two machines with one address, 172.17.0.1 (\"as ssh reached it\"), so "
      "that neither reaches the other; allowed: an interface or network (--interface) in "
      "which each host has an address of its own");
  EXPECT_EQ(error_of({host("a", "10.0.0.1", {}, "m"), host("b", "10.0.0.1", {}, "m")}), "");
  SeenHost unknown = host("a", "10.0.0.1");
  unknown.network.clear();
  EXPECT_NE(error_of({unknown, unknown}), "");
  // Also where both were replaced.
  EXPECT_NE(
      error_of({host("a", "127.0.0.1", {"172.17.0.1"}), host("b", "127.0.0.1", {"172.17.0.1"})}),
      "");
}

}  // namespace
}  // namespace gangrun::ssh
