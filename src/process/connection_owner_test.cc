#include "process/connection_owner.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>

#include "base/unique_fd.h"

namespace gangrun::process {
namespace {

// Port 0x1F90 (8080) is ours, 0xC000 and 0xC001 are clients.
const std::string kHeading =
    "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when ...\n";

std::string line(const char* local, const char* remote, const char* state, const char* user,
                 const char* inode) {
  return std::string("   1: ") + local + " " + remote + " " + state +
         " 00000000:00000000 00:00000000 00000000  " + user + "        0 " + inode + " 1 0 20\n";
}

TEST(ConnectionOwner, IsTheUserOfTheClientsSocket) {
  const std::string table = kHeading + line("0100007F:1F90", "00000000:0000", "0A", "7", "11") +
                            line("0100007F:1F90", "0100007F:C000", "01", "7", "12") +
                            line("0100007F:C000", "0100007F:1F90", "01", "1000", "13") +
                            line("0100007F:C001", "0100007F:1F90", "01", "1001", "14");
  EXPECT_EQ(connection_owner_in(table, 0xC000, 0x1F90), 1000U);
  EXPECT_EQ(connection_owner_in(table, 0xC001, 0x1F90), 1001U);
  EXPECT_EQ(connection_owner_in(table, 0xC002, 0x1F90), std::nullopt);
}

// The kernel shows user 0 for a socket that is closed: that must not pass for root.
TEST(ConnectionOwner, OfAClosedSocketIsNobody) {
  const std::string table = kHeading + line("0100007F:C000", "0100007F:1F90", "06", "0", "0");
  EXPECT_EQ(connection_owner_in(table, 0xC000, 0x1F90), std::nullopt);
}

// The same two ports at another address: which of the two is connected to us cannot be told.
TEST(ConnectionOwner, OfAnAmbiguousPairIsNobody) {
  const std::string table = kHeading + line("0100007F:C000", "0100007F:1F90", "01", "1001", "13") +
                            line("0500000A:C000", "0600000A:1F90", "01", "1000", "14");
  EXPECT_EQ(connection_owner_in(table, 0xC000, 0x1F90), std::nullopt);
}

TEST(ConnectionOwner, OfOurOwnConnectionIsThisUser) {
  const base::UniqueFd server(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const base::UniqueFd client(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* const generic = reinterpret_cast<sockaddr*>(&address);
  ASSERT_EQ(::bind(server.get(), generic, size), 0);
  ASSERT_EQ(::listen(server.get(), 1), 0);
  ASSERT_EQ(::getsockname(server.get(), generic, &size), 0);
  const std::uint16_t own_port = ntohs(address.sin_port);
  ASSERT_EQ(::connect(client.get(), generic, size), 0);
  ASSERT_EQ(::getsockname(client.get(), generic, &size), 0);
  const auto owner = connection_owner(ntohs(address.sin_port), own_port);
  ASSERT_TRUE(owner.ok()) << owner.error().message;
  EXPECT_EQ(*owner, ::geteuid());
}

}  // namespace
}  // namespace gangrun::process
