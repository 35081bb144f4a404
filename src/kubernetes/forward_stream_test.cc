#include "kubernetes/forward_stream.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kubernetes/test_api_server_internal.h"

namespace gangrun::kubernetes {
namespace {

using base::Code;
using testing::HasSubstr;
using namespace std::string_literals;  // NOLINT: bytes with zeros in them

struct ForwardStreamFixture : TestApiServer {
  void start(base::Duration limit = kTestLimit) {
    TunnelCallbacks callbacks;
    callbacks.on_open = [this] { is_open = true; };
    callbacks.on_bytes = [this](std::string_view piece) { received += piece; };
    callbacks.on_end = [this](base::Result<> result) { ended.emplace(std::move(result)); };
    tunnel = client().forward("ns", "board", 6006, loop.now() + limit, std::move(callbacks));
  }
  static void open_port(TestTalk& talk) {
    talk.accept_channel("v4.channel.k8s.io");
    talk.message("\0\x76\x17"s);
    talk.message("\x01\x76\x17"s);
  }
  bool is_open = false;
  std::string received;
  std::optional<base::Result<>> ended;
  std::unique_ptr<Tunnel> tunnel;
};

TEST(ForwardStream, BytesBothWays) {
  ForwardStreamFixture fixture;
  fixture.on_request = [](TestTalk& talk) {
    EXPECT_EQ(talk.target, "/api/v1/namespaces/ns/pods/board/portforward?ports=6006");
    EXPECT_EQ(talk.field("Accept"), "");  // a kubelet answered 406 to application/json
    ForwardStreamFixture::open_port(talk);
    talk.message("\0hello"s);
  };
  fixture.start();
  const std::string large(100'000, 'x');
  fixture.tunnel->send("early ");
  EXPECT_EQ(fixture.tunnel->queued_bytes(), 6U);
  ASSERT_TRUE(fixture.wait([&] { return fixture.received == "hello"; }));
  EXPECT_TRUE(fixture.is_open);
  fixture.tunnel->send("late");
  TestTalk& talk = *fixture.talks[0];
  ASSERT_TRUE(fixture.wait([&] { return talk.messages.size() == 2; }));
  EXPECT_EQ(talk.messages, (std::vector{"\0early "s, "\0late"s}));
  EXPECT_EQ(fixture.tunnel->queued_bytes(), 0U);
  talk.close();
  ASSERT_TRUE(fixture.wait([&] { return fixture.ended.has_value(); }));
  EXPECT_TRUE(fixture.ended->ok());
  fixture.tunnel->send("too late");
}

TEST(ForwardStream, APortWhereNobodyListens) {
  ForwardStreamFixture fixture;
  fixture.on_request = [](TestTalk& talk) {
    ForwardStreamFixture::open_port(talk);
    talk.message(
        "\x01"
        "failed to connect to localhost:6006: connection refused\n");
    talk.close();
  };
  fixture.start();
  ASSERT_TRUE(fixture.wait([&] { return fixture.ended.has_value(); }));
  ASSERT_FALSE(fixture.ended->ok());
  EXPECT_EQ(fixture.ended->error().code, Code::kUnavailable);
  EXPECT_THAT(fixture.ended->error().message, HasSubstr("connection refused"));
}

TEST(ForwardStream, APodThatIsNotThere) {
  ForwardStreamFixture fixture;
  fixture.on_request = [](TestTalk& talk) {
    talk.refuse(404, "NotFound", "pods \"board\" not found");
  };
  fixture.start();
  ASSERT_TRUE(fixture.wait([&] { return fixture.ended.has_value(); }));
  EXPECT_EQ(fixture.ended->error().code, Code::kNotFound);
  EXPECT_FALSE(fixture.is_open);
}

TEST(ForwardStream, APortThatDoesNotOpenInTime) {
  ForwardStreamFixture fixture;
  fixture.on_request = [](TestTalk& talk) { talk.accept_channel("v4.channel.k8s.io"); };
  fixture.start(base::milliseconds(100));
  ASSERT_TRUE(fixture.wait([&] { return fixture.ended.has_value(); }));
  EXPECT_EQ(fixture.ended->error().code, Code::kDeadlineExceeded);
  EXPECT_THAT(fixture.ended->error().message, HasSubstr("port 6006 of pod \"board\""));
}

}  // namespace
}  // namespace gangrun::kubernetes
