#include "process/sock_diag.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>

#include "base/unique_fd.h"

namespace gangrun::process {
namespace {

constexpr std::uint16_t kClientPort = 0xC000;
constexpr std::uint16_t kServerPort = 8080;

sockaddr_in loopback(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

template <typename Body>
std::string message(std::uint16_t type, const Body& body) {
  nlmsghdr header{};
  header.nlmsg_len = sizeof header + sizeof body;
  header.nlmsg_type = type;
  std::string bytes(header.nlmsg_len, '\0');
  std::memcpy(bytes.data(), &header, sizeof header);
  std::memcpy(bytes.data() + sizeof header, &body, sizeof body);
  return bytes;
}

inet_diag_msg client_socket() {
  inet_diag_msg socket{};
  socket.idiag_family = AF_INET;
  socket.idiag_state = TCP_ESTABLISHED;
  socket.id.idiag_sport = htons(kClientPort);
  socket.id.idiag_dport = htons(kServerPort);
  socket.id.idiag_src[0] = socket.id.idiag_dst[0] = htonl(INADDR_LOOPBACK);
  socket.idiag_uid = 1000;
  socket.idiag_inode = 4711;
  return socket;
}

// The same, of a socket of IPv6.
inet_diag_msg mapped_socket() {
  inet_diag_msg socket = client_socket();
  socket.idiag_family = AF_INET6;
  for (auto* const words : {socket.id.idiag_src, socket.id.idiag_dst}) {
    words[3] = words[0];
    words[2] = htonl(0xFFFF);
    words[0] = 0;
  }
  return socket;
}

base::Result<std::optional<uid_t>> owner_in(std::string_view answer) {
  return owner_in_answer(answer, loopback(kClientPort), loopback(kServerPort));
}

base::Result<std::optional<uid_t>> owner_of_socket(const inet_diag_msg& socket) {
  return owner_in(message(SOCK_DIAG_BY_FAMILY, socket));
}

base::Code error_in(std::string_view answer) {
  const auto owner = owner_in(answer);
  EXPECT_FALSE(owner.ok());
  return owner.ok() ? base::Code::kInternal : owner.error().code;
}

TEST(SockDiag, TheQuestionIsForOneSocket) {
  const std::string question = owner_question(loopback(kClientPort), loopback(kServerPort));
  nlmsghdr header{};
  inet_diag_req_v2 asked{};
  ASSERT_EQ(question.size(), sizeof header + sizeof asked);
  std::memcpy(&header, question.data(), sizeof header);
  std::memcpy(&asked, question.data() + sizeof header, sizeof asked);
  EXPECT_EQ(header.nlmsg_len, question.size());
  EXPECT_EQ(header.nlmsg_type, SOCK_DIAG_BY_FAMILY);
  EXPECT_EQ(header.nlmsg_flags, NLM_F_REQUEST);
  EXPECT_EQ(asked.sdiag_family, AF_INET);
  EXPECT_EQ(asked.sdiag_protocol, IPPROTO_TCP);
  EXPECT_EQ(asked.id.idiag_sport, htons(kClientPort));
  EXPECT_EQ(asked.id.idiag_dport, htons(kServerPort));
  EXPECT_EQ(asked.id.idiag_src[0], htonl(INADDR_LOOPBACK));
  EXPECT_EQ(asked.id.idiag_dst[0], htonl(INADDR_LOOPBACK));
  EXPECT_EQ(asked.id.idiag_if, 0U);
}

TEST(SockDiag, TheAnswerHasTheUser) {
  EXPECT_EQ(owner_of_socket(client_socket()).value(), 1000U);
  EXPECT_EQ(owner_of_socket(mapped_socket()).value(), 1000U);
  inet_diag_msg half_closed = client_socket();
  half_closed.idiag_state = TCP_FIN_WAIT2;
  EXPECT_EQ(owner_of_socket(half_closed).value(), 1000U);
}

// The kernel shows root for some that are closed, and who had it for others.
TEST(SockDiag, AClosedSocketIsNobodys) {
  inet_diag_msg closed = client_socket();
  closed.idiag_inode = 0;
  EXPECT_EQ(owner_of_socket(closed).value(), std::nullopt);
  closed.idiag_state = TCP_TIME_WAIT;
  closed.idiag_uid = 0;
  EXPECT_EQ(owner_of_socket(closed).value(), std::nullopt);
}

TEST(SockDiag, ASocketThatIsNotYetConnectedIsNobodys) {
  for (const int state : {TCP_SYN_SENT, TCP_SYN_RECV}) {
    inet_diag_msg socket = client_socket();
    socket.idiag_state = static_cast<std::uint8_t>(state);
    EXPECT_EQ(owner_of_socket(socket).value(), std::nullopt) << state;
  }
}

TEST(SockDiag, AnotherSocketIsNoAnswer) {
  inet_diag_msg listener = client_socket();
  listener.idiag_state = TCP_LISTEN;
  listener.id.idiag_dport = 0;
  listener.id.idiag_dst[0] = 0;
  inet_diag_msg other_port = client_socket();
  other_port.id.idiag_sport = htons(kClientPort + 1);
  inet_diag_msg other_address = client_socket();
  other_address.id.idiag_src[0] = htonl(INADDR_LOOPBACK + 1);
  inet_diag_msg other_server = client_socket();
  other_server.id.idiag_dst[0] = htonl(INADDR_LOOPBACK + 1);
  inet_diag_msg not_mapped = mapped_socket();
  not_mapped.id.idiag_src[2] = 0;
  inet_diag_msg other_mapped = mapped_socket();
  other_mapped.id.idiag_dst[3] = htonl(INADDR_LOOPBACK + 1);
  for (const inet_diag_msg& socket :
       {listener, other_port, other_address, other_server, not_mapped, other_mapped}) {
    EXPECT_EQ(error_in(message(SOCK_DIAG_BY_FAMILY, socket)), base::Code::kNotFound);
  }
}

TEST(SockDiag, AnErrorOfTheKernelIsOne) {
  nlmsgerr error{};
  error.error = -ENOENT;
  EXPECT_EQ(error_in(message(NLMSG_ERROR, error)), base::Code::kNotFound);
  error.error = -EPERM;
  EXPECT_EQ(error_in(message(NLMSG_ERROR, error)), base::Code::kPermissionDenied);
  for (const int number : {0, 1}) {
    error.error = number;
    EXPECT_EQ(error_in(message(NLMSG_ERROR, error)), base::Code::kDataLoss);
  }
}

TEST(SockDiag, BytesThatAreCutOrWrongAreNoAnswer) {
  nlmsgerr error{};
  error.error = -ENOENT;
  for (const std::string& whole :
       {message(SOCK_DIAG_BY_FAMILY, client_socket()), message(NLMSG_ERROR, error)}) {
    for (std::size_t size = 0; size < whole.size(); ++size) {
      EXPECT_EQ(error_in(whole.substr(0, size)), base::Code::kDataLoss) << size;
      std::string shortened = whole;
      const auto length = static_cast<std::uint32_t>(size);
      std::memcpy(shortened.data(), &length, sizeof length);
      EXPECT_EQ(error_in(shortened), base::Code::kDataLoss) << size;
    }
  }
  EXPECT_EQ(error_in(message(NLMSG_DONE, client_socket())), base::Code::kDataLoss);
  EXPECT_EQ(error_in(message(TCPDIAG_GETSOCK, client_socket())), base::Code::kDataLoss);
}

TEST(SockDiag, WhatFollowsTheSocketIsNotRead) {
  struct {
    inet_diag_msg socket = client_socket();
    std::uint32_t attribute = 0xFFFFFFFF;
  } more;
  EXPECT_EQ(owner_in(message(SOCK_DIAG_BY_FAMILY, more)).value(), 1000U);
}

// A connection to a server on loopback.
struct Loopback {
  base::UniqueFd server{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  base::UniqueFd client;
  sockaddr_in own = loopback(0);
  sockaddr_in other = loopback(0);
  bool connected = false;

  explicit Loopback(int family) : client(::socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    socklen_t size = sizeof other;
    auto* const address = reinterpret_cast<sockaddr*>(&other);
    EXPECT_EQ(::bind(server.get(), address, size), 0);
    EXPECT_EQ(::listen(server.get(), 1), 0);
    EXPECT_EQ(::getsockname(server.get(), address, &size), 0);
    sockaddr_in6 mapped{};
    mapped.sin6_family = AF_INET6;
    mapped.sin6_port = other.sin_port;
    EXPECT_EQ(::inet_pton(AF_INET6, "::ffff:127.0.0.1", &mapped.sin6_addr), 1);
    const bool is_mapped = family == AF_INET6;
    connected = is_mapped ? ::connect(client.get(), reinterpret_cast<sockaddr*>(&mapped),
                                      sizeof mapped) == 0
                          : ::connect(client.get(), address, sizeof other) == 0;
    if (!connected) return;
    // The port has the same place in both addresses.
    size = sizeof mapped;
    EXPECT_EQ(::getsockname(client.get(), reinterpret_cast<sockaddr*>(&mapped), &size), 0);
    own.sin_port = mapped.sin6_port;
  }
};

TEST(SockDiag, FindsASocketOfEachFamilyAndNoOther) {
  for (const int family : {AF_INET, AF_INET6}) {
    Loopback connection(family);
    ASSERT_TRUE(connection.connected);
    const auto owner = socket_owner(connection.own, connection.other);
    ASSERT_TRUE(owner.ok()) << owner.error().message;
    EXPECT_EQ(*owner, ::geteuid());

    sockaddr_in elsewhere = connection.own;
    elsewhere.sin_addr.s_addr = htonl(INADDR_LOOPBACK + 1);
    EXPECT_FALSE(socket_owner(elsewhere, connection.other).ok());
    EXPECT_FALSE(socket_owner(connection.own, connection.own).ok());
    // A port that is listened on, but not connected to that one.
    EXPECT_FALSE(socket_owner(connection.other, connection.other).ok());

    connection.client.reset();
    const auto closed = socket_owner(connection.own, connection.other);
    ASSERT_TRUE(closed.ok()) << closed.error().message;
    EXPECT_EQ(*closed, std::nullopt);
  }
}

}  // namespace
}  // namespace gangrun::process
