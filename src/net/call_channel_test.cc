#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "net/test_calls_internal.h"
#include "net/test_websocket.h"

namespace gangrun::net {
namespace {

using base::Code;
using base::milliseconds;
using testing::HasSubstr;
using testing::Not;

constexpr char kBinary = '\x02';
constexpr char kText = '\x01';

// One short message of a server.
std::string frame(char kind, const std::string& text) {
  return std::string{static_cast<char>('\x80' | kind), static_cast<char>(text.size())} + text;
}

// One short message of a client, which is masked.
std::string unmask(const std::string& frame) {
  constexpr std::size_t kHeader = 6;
  std::string text = frame.substr(std::min(kHeader, frame.size()));
  for (std::size_t i = 0; i < text.size(); ++i) {
    text[i] = static_cast<char>(text[i] ^ frame[2 + i % 4]);
  }
  return text;
}

ChannelResult open(EventLoop& loop, const std::shared_ptr<const Remote>& remote,
                   CallRequest request = {}, base::Duration within = kTestLimit) {
  std::optional<ChannelResult> result;
  const Call call =
      open_channel(loop, remote, std::move(request), {"v5.channel.k8s.io", "v4.channel.k8s.io"},
                   loop.now() + within,
                   [&result](ChannelResult channel) { result.emplace(std::move(channel)); });
  EXPECT_TRUE(loop.run_until([&] { return result.has_value(); }, test_deadline()));
  return std::move(*result);
}

TEST(OpenChannel, BytesGoBothWaysInTheSubprotocolThatBothSpeak) {
  const TestAuthority authority;
  std::string wish;
  std::string heard;
  const TestPeer peer(
      [&](TestTalk& talk) {
        wish = talk.read_head();
        // The first message comes with the consent itself.
        talk.write(websocket_consent(wish, "v4.channel.k8s.io") + frame(kBinary, "one"));
        heard = unmask(talk.read_exactly(9));
        talk.write(frame(kBinary, "two"));
        talk.read_until("nothing that a client says");
      },
      TestTls{authority.issue("server", "IP:127.0.0.1")});
  RemoteOptions options;
  options.url = base::format("https://127.0.0.1:{}", peer.port());
  options.authorities_pem = authority.certificate_pem();
  EventLoop loop;
  auto channel = open(loop, remote_of(options),
                      {"GET", "/exec?command=a&command=b", {{"Authorization", "Bearer t"}}, {}});
  ASSERT_TRUE(channel.ok()) << channel.error().message;
  EXPECT_THAT(wish, HasSubstr("GET /exec?command=a&command=b HTTP/1.1\r\n"));
  EXPECT_THAT(wish, HasSubstr("Authorization: Bearer t\r\n"));
  EXPECT_THAT(wish, HasSubstr("Sec-WebSocket-Protocol: v5.channel.k8s.io, v4.channel.k8s.io\r\n"));
  std::string said;
  (*channel)->on_message([&](std::string_view message) {
    said += message;
    if (said == "one") (*channel)->send(std::string("\0in", 3));
  });
  EXPECT_TRUE(loop.run_until([&] { return said == "onetwo"; }, test_deadline()));
  EXPECT_EQ(heard, std::string("\0in", 3));
}

TEST(OpenChannel, ATextMessageEndsIt) {
  constexpr char kFarewell = '\x88';
  std::string heard;
  const TestPeer peer([&heard](TestTalk& talk) {
    talk.write(websocket_consent(talk.read_head(), "v4.channel.k8s.io") + frame(kText, "one"));
    heard = talk.read_exactly(1);
  });
  EventLoop loop;
  auto channel = open(loop, plain_remote(peer));
  ASSERT_TRUE(channel.ok()) << channel.error().message;
  bool closed = false;
  (*channel)->on_closed([&closed](const base::Error&) { closed = true; });
  (*channel)->on_message([](std::string_view message) { ADD_FAILURE() << message; });
  EXPECT_TRUE(loop.run_until([&] { return closed; }, test_deadline()));
  EXPECT_THAT(heard, testing::StartsWith(std::string(1, kFarewell)));
}

TEST(OpenChannel, ARefusalIsItsBodyAndNothingElse) {
  const std::string status(3000, 's');
  const TestPeer peer([&status](TestTalk& talk) {
    talk.read_head();
    talk.write(base::format("HTTP/1.1 403 Forbidden\r\nContent-Length: {}\r\n\r\n{}", status.size(),
                            status));
  });
  EventLoop loop;
  const auto channel = open(loop, plain_remote(peer));
  ASSERT_FALSE(channel.ok());
  EXPECT_EQ(channel.error().code, Code::kPermissionDenied);
  EXPECT_EQ(channel.error().message, status);
}

TEST(OpenChannel, WithoutACommonSubprotocolThereIsNone) {
  for (const std::string subprotocol : {"", "v1.other"}) {
    const TestPeer peer([&subprotocol](TestTalk& talk) {
      talk.write(websocket_consent(talk.read_head(), subprotocol));
      talk.read_until("nothing that a client says");
    });
    EventLoop loop;
    const auto channel = open(loop, plain_remote(peer));
    ASSERT_FALSE(channel.ok());
    EXPECT_EQ(channel.error().code, Code::kFailedPrecondition);
    EXPECT_THAT(channel.error().message, HasSubstr("v5.channel.k8s.io"));
  }
}

TEST(OpenChannel, WhoDoesNotAnswerIsWaitedForUntilTheDeadline) {
  const TestPeer peer([](TestTalk& talk) {
    talk.read_head();
    EXPECT_TRUE(talk.ends());
  });
  EventLoop loop;
  const auto channel =
      open(loop, plain_remote(peer), {"GET", "/a?token=hidden", {}, {}}, milliseconds(30));
  ASSERT_FALSE(channel.ok());
  EXPECT_EQ(channel.error().code, Code::kDeadlineExceeded);
  EXPECT_THAT(channel.error().message,
              HasSubstr(base::format("GET 127.0.0.1:{}/a: ", peer.port())));
  EXPECT_THAT(channel.error().message, Not(HasSubstr("hidden")));
}

TEST(OpenChannel, IsEndedByItsDestruction) {
  const TestPeer peer([](TestTalk& talk) {
    talk.read_head();
    EXPECT_TRUE(talk.ends());
  });
  EventLoop loop;
  Call call = open_channel(loop, plain_remote(peer), {}, {"a"}, test_deadline(),
                           [](const ChannelResult&) { FAIL() << "nobody wants to know"; });
  loop.run_until([] { return false; }, loop.now() + milliseconds(20));
  call.reset();
  bool later = false;
  loop.post([&later] { later = true; });
  EXPECT_TRUE(loop.run_until([&] { return later; }, test_deadline()));
}

TEST(OpenChannel, WhatCannotBeAskedIsRefused) {
  const TestPeer peer([](TestTalk&) { ADD_FAILURE() << "nobody comes"; });
  EventLoop loop;
  for (const CallRequest& request :
       {CallRequest{"GET", "a", {}, {}}, CallRequest{"GET", "/", {{"A", "b\n"}}, {}}}) {
    const auto channel = open(loop, plain_remote(peer), request);
    ASSERT_FALSE(channel.ok());
    EXPECT_EQ(channel.error().code, Code::kInvalidArgument);
  }
}

}  // namespace
}  // namespace gangrun::net
