#include "hadoop/blocking_socket.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/test_deadline.h"
#include "hadoop/test_server.h"

namespace gangrun::hadoop {
namespace {

using namespace std::chrono_literals;

TEST(BlockingSocket, SendsAndReceives) {
  TestServer server([](TestPeer& peer) { peer.give(peer.take(4) + "!"); });
  auto socket = BlockingSocket::connect("127.0.0.1", server.port(), base::soon());
  ASSERT_TRUE(socket.ok()) << socket.error().message;
  ASSERT_TRUE(socket->send("ping", base::soon()).ok());
  EXPECT_EQ(socket->receive(base::soon()), "ping!");
  const auto end = socket->receive(base::soon());
  ASSERT_FALSE(end.ok());
  EXPECT_EQ(end.error().code, base::Code::kUnavailable);
}

TEST(BlockingSocket, AClosedPortIsUnavailable) {
  int port = 0;
  {
    const TestServer server([](TestPeer&) {});
    port = server.port();
  }
  const auto socket = BlockingSocket::connect("127.0.0.1", port, base::soon());
  ASSERT_FALSE(socket.ok());
  EXPECT_EQ(socket.error().code, base::Code::kUnavailable);
  EXPECT_THAT(socket.error().message, testing::HasSubstr("refused"));
  EXPECT_FALSE(BlockingSocket::connect("127.0.0.1", 0, base::soon()).ok());
}

TEST(BlockingSocket, SilenceEndsAtTheDeadline) {
  TestServer server([](TestPeer& peer) { (void)peer.take(1); });
  auto socket = BlockingSocket::connect("127.0.0.1", server.port(), base::soon());
  ASSERT_TRUE(socket.ok());
  const auto received = socket->receive(base::soon(20ms));
  ASSERT_FALSE(received.ok());
  EXPECT_EQ(received.error().code, base::Code::kDeadlineExceeded);
  // More than the kernel buffers, to somebody who does not read.
  const auto sent = socket->send(std::string(std::size_t{64} << 20U, 'x'), base::soon(50ms));
  ASSERT_FALSE(sent.ok());
}

}  // namespace
}  // namespace gangrun::hadoop
