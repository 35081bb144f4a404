#include "net/asio_internal.h"
//
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <array>
#include <optional>
#include <string>

#include "net/event_loop_internal.h"
#include "net/stream_internal.h"
#include "net/test_support_internal.h"

namespace gangrun::net {
namespace {

struct Pair {
  explicit Pair(EventLoop& loop) {
    std::array<int, 2> ends{};
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()), 0);
    const asio::generic::stream_protocol protocol(AF_UNIX, 0);
    first.emplace(Stream::Socket(context_of(loop), protocol, ends[0]));
    second.emplace(Stream::Socket(context_of(loop), protocol, ends[1]));
  }
  std::optional<Stream> first;
  std::optional<Stream> second;
};

TEST(Stream, OneWriteTakesAllPiecesAndSkipsEmptyOnes) {
  EventLoop loop;
  Pair pair(loop);
  const std::string head = "head ";
  const std::string body = "body";
  const std::array<asio::const_buffer, 3> pieces{asio::buffer(head), asio::const_buffer(),
                                                 asio::buffer(body)};
  std::size_t written = 0;
  pair.first->async_write_some(pieces, [&](const ErrorCode& error, std::size_t size) {
    EXPECT_FALSE(error);
    written = size;
  });
  std::array<char, 64> target{};
  std::string got;
  const std::array<asio::mutable_buffer, 2> targets{asio::mutable_buffer(), asio::buffer(target)};
  pair.second->async_read_some(targets, [&](const ErrorCode& error, std::size_t size) {
    EXPECT_FALSE(error);
    got.assign(target.data(), size);
  });
  ASSERT_TRUE(loop.run_until([&] { return !got.empty() && written != 0; }, test_deadline()));
  EXPECT_EQ(written, 9U);
  EXPECT_EQ(got, "head body");
}

TEST(Stream, MayBeDestroyedWithARead) {
  EventLoop loop;
  Pair pair(loop);
  std::array<char, 8> target{};
  std::optional<ErrorCode> result;
  const auto held = std::make_shared<int>(1);
  pair.first->async_read_some(asio::buffer(target),
                              [&, held](const ErrorCode& error, std::size_t) { result = error; });
  pair.first->close();
  pair.first.reset();
  EXPECT_FALSE(result.has_value()) << "never called inside close()";
  ASSERT_TRUE(loop.run_until([&] { return result.has_value(); }, test_deadline()));
  EXPECT_EQ(*result, asio::error::operation_aborted);
  EXPECT_EQ(held.use_count(), 1);
}

TEST(Stream, TheOtherSideOfAPairIsOurselves) {
  EventLoop loop;
  const Pair pair(loop);
  const Peer peer = pair.first->describe_peer();
  EXPECT_EQ(peer.kind, PeerKind::kUnix);
  EXPECT_EQ(peer.uid, ::getuid());
  EXPECT_EQ(peer.pid, ::getpid());
}

TEST(Stream, WhatAnOperationFailedOfBecomesAnError) {
  const base::Error closed = to_error(asio::error::eof, "read");
  EXPECT_EQ(closed.code, base::Code::kUnavailable);
  EXPECT_EQ(closed.message, "read: the other side closed the connection");
  EXPECT_EQ(to_error(asio::error::connection_refused, "connect").code, base::Code::kUnavailable);
}

}  // namespace
}  // namespace gangrun::net
