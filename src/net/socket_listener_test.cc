#include "net/socket_listener.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <filesystem>
#include <string>
#include <vector>

namespace gangrun::net {
namespace {

constexpr std::chrono::seconds kAcceptLimit(20);

base::UniqueFd connected(std::uint16_t port) {
  base::UniqueFd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  EXPECT_EQ(::connect(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  return socket;
}

TEST(SocketListener, HandsOnEveryConnection) {
  EventLoop loop;
  std::vector<base::UniqueFd> accepted;
  SocketListener listener(loop,
                          [&](base::UniqueFd socket) { accepted.push_back(std::move(socket)); });
  const auto port = listener.listen_at_loopback(0);
  ASSERT_TRUE(port.ok()) << port.error().message;
  const base::UniqueFd first = connected(*port);
  const base::UniqueFd second = connected(*port);
  ASSERT_TRUE(loop.run_until([&] { return accepted.size() == 2; }, loop.now() + kAcceptLimit));
  char byte = 0;
  EXPECT_EQ(::recv(accepted[0].get(), &byte, 1, 0), -1) << "it would wait";
}

TEST(SocketListener, APortThatIsTakenIsNamed) {
  EventLoop loop;
  SocketListener first(loop, [](const base::UniqueFd&) {});
  const auto port = first.listen_at_loopback(0);
  ASSERT_TRUE(port.ok());
  SocketListener second(loop, [](const base::UniqueFd&) {});
  const auto refused = second.listen_at_loopback(*port);
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.error().message,
              testing::HasSubstr("listen on 127.0.0.1:" + std::to_string(*port)));
}

TEST(SocketListener, AtAllAddressesItIsReachedByEach) {
  EventLoop loop;
  std::size_t accepted = 0;
  SocketListener listener(loop, [&](const base::UniqueFd&) { ++accepted; });
  const auto port = listener.listen_at_all(0);
  ASSERT_TRUE(port.ok()) << port.error().message;
  const base::UniqueFd by_ipv4 = connected(*port);
  ASSERT_TRUE(loop.run_until([&] { return accepted == 1; }, loop.now() + kAcceptLimit));
  const base::UniqueFd by_ipv6(::socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in6 address{};
  address.sin6_family = AF_INET6;
  address.sin6_port = htons(*port);
  address.sin6_addr = in6addr_loopback;
  // A machine without IPv6 is not asked.
  if (::connect(by_ipv6.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) return;
  EXPECT_TRUE(loop.run_until([&] { return accepted == 2; }, loop.now() + kAcceptLimit));
}

TEST(SocketListener, AtAPathItReplacesASocketThatIsThere) {
  EventLoop loop;
  std::string folder = "/tmp/gangrun-listener-XXXXXX";
  ASSERT_NE(::mkdtemp(folder.data()), nullptr);
  const std::string path = folder + "/agents";
  std::vector<base::UniqueFd> accepted;
  const auto take = [&](base::UniqueFd socket) { accepted.push_back(std::move(socket)); };
  SocketListener first(loop, take);
  ASSERT_TRUE(first.listen_at_path(path).ok());
  SocketListener second(loop, take);
  ASSERT_TRUE(second.listen_at_path(path).ok());
  struct stat info {};
  ASSERT_EQ(::stat(path.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777U, 0600U);
  const auto socket = connect_to_path(path);
  ASSERT_TRUE(socket.ok()) << socket.error().message;
  EXPECT_TRUE(loop.run_until([&] { return accepted.size() == 1; }, loop.now() + kAcceptLimit));
  SocketListener other(loop, take);
  EXPECT_FALSE(other.listen_at_path("/tmp/" + std::string(200, 'x')).ok());
  EXPECT_FALSE(connect_to_path("/tmp/" + std::string(200, 'x')).ok());
  EXPECT_FALSE(connect_to_path(folder + "/nobody").ok());
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace gangrun::net
