#include "net/loopback_listener.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

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

TEST(LoopbackListener, HandsOnEveryConnection) {
  EventLoop loop;
  std::vector<base::UniqueFd> accepted;
  LoopbackListener listener(loop,
                            [&](base::UniqueFd socket) { accepted.push_back(std::move(socket)); });
  const auto port = listener.listen(0);
  ASSERT_TRUE(port.ok()) << port.error().message;
  const base::UniqueFd first = connected(*port);
  const base::UniqueFd second = connected(*port);
  ASSERT_TRUE(loop.run_until([&] { return accepted.size() == 2; }, loop.now() + kAcceptLimit));
  char byte = 0;
  EXPECT_EQ(::recv(accepted[0].get(), &byte, 1, 0), -1) << "it would wait";
}

TEST(LoopbackListener, APortThatIsTakenIsNamed) {
  EventLoop loop;
  LoopbackListener first(loop, [](const base::UniqueFd&) {});
  const auto port = first.listen(0);
  ASSERT_TRUE(port.ok());
  LoopbackListener second(loop, [](const base::UniqueFd&) {});
  const auto refused = second.listen(*port);
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.error().message,
              testing::HasSubstr("listen on 127.0.0.1:" + std::to_string(*port)));
}

}  // namespace
}  // namespace gangrun::net
