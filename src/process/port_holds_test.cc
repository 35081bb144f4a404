#include "process/port_holds.h"

#include <gmock/gmock.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <set>
#include <vector>

#include "base/format.h"
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

using base::Code;
using testing::AnyOf;

std::uint16_t port_of(const UniqueFd& socket) {
  sockaddr_in address{};
  socklen_t length = sizeof address;
  EXPECT_EQ(::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&address), &length), 0);
  return ntohs(address.sin_port);
}

// The second holds the number for IPv4 too.
constexpr const char* kAllAddresses[] = {"0.0.0.0", "::"};

PortHold hold_any(const char* address = "0.0.0.0") {
  auto hold = PortHold::any(address);
  EXPECT_TRUE(hold.ok());
  EXPECT_NE(hold->port(), 0);
  return *std::move(hold);
}

TEST(PortHold, NobodyWhoAsksForAnyPortGetsIt) {
  for (const char* address : kAllAddresses) {
    const PortHold hold = hold_any(address);
    for (const BindOptions options : {BindOptions{}, BindOptions{.reuse_address = true},
                                      BindOptions{.reuse_port = true}, BindOptions{true, true}}) {
      std::vector<UniqueFd> others;
      for (int i = 0; i < 500; ++i) {
        others.push_back(bind_beside(0, options));
        ASSERT_TRUE(others.back().valid());
        ASSERT_NE(port_of(others.back()), hold.port()) << address;
      }
    }
  }
}

TEST(PortHold, NotEvenWhereItIsTheOnlyPortLeft) {
  for (const char* address : kAllAddresses) {
    const PortHold hold = hold_any(address);
    // This socket may only be given the held port, where the kernel knows the option.
    const std::uint32_t only_this =
        (static_cast<std::uint32_t>(hold.port()) << 16U) | static_cast<std::uint32_t>(hold.port());
    for (const BindOptions options : {BindOptions{}, BindOptions{.reuse_address = true}}) {
      const UniqueFd socket = bind_beside(0, options, only_this);
      EXPECT_TRUE(!socket.valid() || port_of(socket) != hold.port()) << address;
    }
  }
}

TEST(PortHold, NoOutgoingConnectionGetsIt) {
  const PortHold hold = hold_any();
  const PortHold hold_of_both = hold_any("::");
  const UniqueFd server = bind_beside(0, {});
  ASSERT_EQ(::listen(server.get(), 1000), 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port_of(server));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  std::vector<UniqueFd> clients;
  for (int i = 0; i < 300; ++i) {
    clients.emplace_back(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    ASSERT_EQ(
        ::connect(clients.back().get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    ASSERT_NE(port_of(clients.back()), hold.port());
    ASSERT_NE(port_of(clients.back()), hold_of_both.port());
  }
}

TEST(PortHold, WhoNamesItWithAnOptionTakesItOver) {
  for (const char* address : kAllAddresses) {
    for (const BindOptions options :
         {BindOptions{.reuse_address = true}, BindOptions{.reuse_port = true}}) {
      const PortHold hold = hold_any(address);
      const UniqueFd server = bind_beside(hold.port(), options);
      ASSERT_TRUE(server.valid()) << address;
      EXPECT_EQ(::listen(server.get(), 8), 0) << address;
    }
  }
}

TEST(PortHold, WhoNamesItWithoutAnOptionIsRefusedUntilRelease) {
  PortHold hold = hold_any();
  EXPECT_FALSE(bind_beside(hold.port(), {}).valid());
  hold.release();
  EXPECT_TRUE(bind_beside(hold.port(), {}).valid());
}

TEST(PortHold, ComesBackAtItsOldNumber) {
  PortHold first = hold_any();
  const std::uint16_t port = first.port();
  first.release();
  const auto again = PortHold::exactly("0.0.0.0", port);
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(again->port(), port);
  EXPECT_EQ(again->fd() >= 0, true);
}

TEST(PortHold, SaysWhoHasThePortThatIsWanted) {
  for (const BindOptions options : {BindOptions{}, BindOptions{true, true}}) {
    const UniqueFd server = bind_beside(0, options);
    ASSERT_EQ(::listen(server.get(), 8), 0);
    const auto hold = PortHold::exactly("0.0.0.0", port_of(server));
    ASSERT_FALSE(hold.ok());
    EXPECT_EQ(hold.error().code, Code::kUnavailable);
    EXPECT_THAT(hold.error().message, HasSubstr("(process_test)"));
    EXPECT_THAT(hold.error().message, HasSubstr(std::to_string(port_of(server))));
  }
  const UniqueFd bound_only = bind_beside(0, {});
  const auto hold = PortHold::exactly("0.0.0.0", port_of(bound_only));
  ASSERT_FALSE(hold.ok());
  EXPECT_THAT(hold.error().message, HasSubstr("in use"));
}

TEST(PortHold, HoldsOnIpv6WhereThereIsIpv6) {
  const auto hold = PortHold::any("::");
  if (hold.ok()) {
    EXPECT_NE(hold->port(), 0);
    EXPECT_FALSE(bind_beside(hold->port(), {}).valid()) << ":: holds the number for IPv4 too";
  } else {
    EXPECT_THAT(hold.error().message, HasSubstr("::"));
  }
}

TEST(PortHold, RefusesWhatIsNoNumericAddressOrPort) {
  for (const std::string address : {"", "localhost", "300.1.1.1", "1.2.3.4:5"}) {
    const auto hold = PortHold::any(address);
    ASSERT_FALSE(hold.ok());
    EXPECT_EQ(hold.error().code, Code::kInvalidArgument);
    EXPECT_THAT(hold.error().message, HasSubstr(fmt::format("'{}'", address)));
  }
  EXPECT_EQ(PortHold::exactly("0.0.0.0", 0).error().code, Code::kInvalidArgument);
  // An address of documentation: no host has it.
  EXPECT_FALSE(PortHold::any("192.0.2.1").ok());
}

}  // namespace
}  // namespace gangrun::process
