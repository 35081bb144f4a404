#include "net/channel.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>

#include "net/client.h"
#include "net/server.h"
#include "net/test_support_internal.h"

namespace gangrun::net {
namespace {

using base::milliseconds;
using testing::ElementsAre;
using testing::HasSubstr;

using ChannelResult = base::Result<std::unique_ptr<Channel>>;

// A server whose channels are kept, and clients of it in the same loop.
struct ChannelFixture {
  explicit ChannelFixture(const ServerOptions& options = {}) {
    server = std::make_unique<Server>(loop, options);
    EXPECT_TRUE(server->listen_unix(path).ok());
    server->on_channel([this](HttpRequest request, std::unique_ptr<Channel> channel) {
      requests.push_back(std::move(request));
      accepted.push_back(std::move(channel));
    });
  }

  ChannelResult connect(const std::string& target = "/c", const Headers& headers = {},
                        const ChannelOptions& options = {}) {
    std::optional<ChannelResult> result;
    const Call connecting = connect_channel(
        loop, Endpoint::on_unix(path), target, headers, test_deadline(),
        [&](ChannelResult channel) { result.emplace(std::move(channel)); }, options);
    EXPECT_TRUE(loop.run_until([&] { return result.has_value(); }, test_deadline()));
    return std::move(*result);
  }

  // Both ends of a channel. What they receive is in `at_client` and `at_server`.
  void open(const ChannelOptions& options = {}) {
    auto channel = connect("/c", {}, options);
    ASSERT_TRUE(channel.ok()) << channel.error().message;
    client = std::move(*channel);
    ASSERT_TRUE(until([&] { return !accepted.empty(); }));
    peer = std::move(accepted.front());
    client->on_closed([&](base::Error error) { client_end.push_back(std::move(error)); });
    peer->on_closed([&](base::Error error) { server_end.push_back(std::move(error)); });
    client->on_message([&](std::string_view text) { at_client.emplace_back(text); });
    peer->on_message([&](std::string_view text) { at_server.emplace_back(text); });
  }

  bool until(const std::function<bool()>& done) { return loop.run_until(done, test_deadline()); }
  // Whatever is under way happens, or never will.
  void settle() {
    bool later = false;
    const Timer end = loop.after(milliseconds(20), [&] { later = true; });
    EXPECT_TRUE(until([&] { return later; }));
  }

  TestFolder folder;
  std::string path = folder / "socket";
  EventLoop loop;
  std::unique_ptr<Server> server;
  std::vector<HttpRequest> requests;
  std::vector<std::unique_ptr<Channel>> accepted;
  std::unique_ptr<Channel> client;
  std::unique_ptr<Channel> peer;
  std::vector<std::string> at_client;
  std::vector<std::string> at_server;
  std::vector<base::Error> client_end;
  std::vector<base::Error> server_end;
};

TEST(Channel, MessagesArriveWholeAndInOrderBothWays) {
  ChannelFixture fixture;
  fixture.open();
  const std::string large(3'000'000, 'x');
  for (const std::string& text : {std::string("one"), std::string(), large, std::string("end")}) {
    fixture.client->send(text);
    fixture.peer->send(text);
  }
  ASSERT_TRUE(fixture.until(
      [&] { return fixture.at_client.size() == 4 && fixture.at_server.size() == 4; }));
  EXPECT_EQ(fixture.at_client, (std::vector<std::string>{"one", "", large, "end"}));
  EXPECT_EQ(fixture.at_server, fixture.at_client);
  EXPECT_EQ(fixture.client->queued_bytes(), 0U);
}

TEST(Channel, TheServerSeesRequestAndPeer) {
  ChannelFixture fixture;
  const auto channel = fixture.connect("/agents/worker:3", {{"Authorization", "Bearer abc"}});
  ASSERT_TRUE(channel.ok()) << channel.error().message;
  ASSERT_TRUE(fixture.until([&] { return !fixture.accepted.empty(); }));
  EXPECT_EQ(fixture.requests.front().path, "/agents/worker:3");
  EXPECT_EQ(fixture.requests.front().bearer_token(), "abc");
  EXPECT_EQ(fixture.requests.front().peer.uid, ::getuid());
  EXPECT_EQ(fixture.accepted.front()->peer().pid, ::getpid());
  EXPECT_EQ((*channel)->peer().uid, ::getuid());
}

TEST(Channel, NoMessageIsLostBeforeTheCallbackIsSet) {
  ChannelFixture fixture;
  fixture.server->on_channel([&](const HttpRequest&, std::unique_ptr<Channel> channel) {
    channel->send("at once");
    fixture.accepted.push_back(std::move(channel));
  });
  auto channel = fixture.connect();
  ASSERT_TRUE(channel.ok());
  fixture.settle();
  (*channel)->on_message([&](std::string_view text) { fixture.at_client.emplace_back(text); });
  ASSERT_TRUE(fixture.until([&] { return !fixture.at_client.empty(); }));
  EXPECT_THAT(fixture.at_client, ElementsAre("at once"));
}

TEST(Channel, ARefusalIsAnErrorByItsStatus) {
  ChannelFixture fixture;
  int status = 0;
  fixture.server->on_channel_request([&](const HttpRequest&) -> std::optional<HttpResponse> {
    return HttpResponse{status, "text/plain", {}, "because of the test\n"};
  });
  const std::map<int, base::Code> expected{{401, base::Code::kUnauthenticated},
                                           {403, base::Code::kPermissionDenied},
                                           {404, base::Code::kNotFound},
                                           {503, base::Code::kUnavailable}};
  for (const auto& [refusal, code] : expected) {
    status = refusal;
    const auto channel = fixture.connect();
    ASSERT_FALSE(channel.ok());
    EXPECT_EQ(channel.error().code, code);
    EXPECT_THAT(channel.error().message, HasSubstr("because of the test"));
    EXPECT_THAT(channel.error().message, HasSubstr(fixture.path));
  }
  EXPECT_TRUE(fixture.accepted.empty());
  EXPECT_TRUE(fixture.until([&] { return fixture.server->connections() == 0; }));
}

TEST(Channel, AFarewellIsToldToBothSidesOnceAfterAllMessages) {
  ChannelFixture fixture;
  fixture.open();
  for (int i = 0; i < 100; ++i) fixture.peer->send(std::string(10'000, 'a'));
  fixture.peer->close("the job has ended");
  fixture.peer->send("too late");
  EXPECT_TRUE(fixture.server_end.empty()) << "not inside close()";
  ASSERT_TRUE(
      fixture.until([&] { return !fixture.client_end.empty() && !fixture.server_end.empty(); }));
  fixture.settle();
  EXPECT_EQ(fixture.at_client.size(), 100U);
  ASSERT_EQ(fixture.client_end.size(), 1U);
  EXPECT_EQ(fixture.client_end[0].code, base::Code::kUnavailable);
  EXPECT_THAT(fixture.client_end[0].message, HasSubstr("the job has ended"));
  ASSERT_EQ(fixture.server_end.size(), 1U);
  EXPECT_EQ(fixture.server_end[0].code, base::Code::kCancelled);
}

TEST(Channel, ADenialArrivesAsOne) {
  ChannelFixture fixture;
  fixture.open();
  fixture.peer->close(std::string(500, 'z'), base::Code::kPermissionDenied);
  ASSERT_TRUE(fixture.until([&] { return !fixture.client_end.empty(); }));
  EXPECT_EQ(fixture.client_end[0].code, base::Code::kPermissionDenied);
}

TEST(Channel, DestroyingSendsWhatIsQueuedAndCallsNothingBack) {
  ChannelFixture fixture;
  fixture.open();
  fixture.client->send(std::string(2'000'000, 'l'));
  fixture.client->send("last words");
  fixture.client.reset();
  ASSERT_TRUE(fixture.until([&] { return !fixture.server_end.empty(); }));
  ASSERT_EQ(fixture.at_server.size(), 2U);
  EXPECT_EQ(fixture.at_server[1], "last words");
  EXPECT_EQ(fixture.server_end[0].code, base::Code::kUnavailable);
  EXPECT_TRUE(fixture.client_end.empty());
}

TEST(Channel, MayBeDestroyedInItsCallbacks) {
  ChannelFixture fixture;
  fixture.open();
  fixture.client->on_message([&, held = std::make_shared<int>(1)](std::string_view) {
    fixture.client.reset();
    EXPECT_EQ(held.use_count(), 1) << "the running callback is still whole";
  });
  fixture.peer->on_closed([&](const base::Error&) { fixture.peer.reset(); });
  fixture.peer->send("go");
  fixture.peer->send("more");
  EXPECT_TRUE(fixture.until([&] { return fixture.peer == nullptr; }));
}

TEST(Channel, TheMessageCallbackMayBeReplacedFromInside) {
  ChannelFixture fixture;
  fixture.open();
  std::vector<std::string> first;
  std::vector<std::string> then;
  fixture.client->on_message([&](std::string_view text) {
    first.emplace_back(text);
    fixture.client->on_message([&](std::string_view later) { then.emplace_back(later); });
  });
  for (int i = 1; i <= 3; ++i) fixture.peer->send(std::to_string(i));
  ASSERT_TRUE(fixture.until([&] { return first.size() + then.size() == 3; }));
  EXPECT_THAT(first, ElementsAre("1"));
  EXPECT_THAT(then, ElementsAre("2", "3"));
}

TEST(Channel, AMessageThatIsTooLargeEndsIt) {
  ServerOptions options;
  options.channel.max_message_bytes = 1000;
  ChannelFixture fixture(options);
  fixture.open();
  fixture.client->send(std::string(1000, 'a'));
  ASSERT_TRUE(fixture.until([&] { return fixture.at_server.size() == 1; }));
  fixture.client->send(std::string(1001, 'a'));
  ASSERT_TRUE(
      fixture.until([&] { return !fixture.client_end.empty() && !fixture.server_end.empty(); }));
  EXPECT_EQ(fixture.server_end[0].code, base::Code::kResourceExhausted);
  EXPECT_THAT(fixture.server_end[0].message, HasSubstr("1000 bytes"));
  EXPECT_EQ(fixture.client_end[0].code, base::Code::kResourceExhausted);
}

TEST(Channel, AQueueThatGrowsTooLargeEndsIt) {
  ChannelFixture fixture;
  ChannelOptions options;
  options.max_queued_bytes = 10'000'000;
  auto channel = fixture.connect("/c", {}, options);
  ASSERT_TRUE(channel.ok());
  // The other side never reads.
  (*channel)->on_closed([&](base::Error error) { fixture.client_end.push_back(error); });
  for (int i = 0; i < 11; ++i) (*channel)->send(std::string(1'000'000, 'q'));
  ASSERT_TRUE(fixture.until([&] { return !fixture.client_end.empty(); }));
  EXPECT_EQ(fixture.client_end[0].code, base::Code::kResourceExhausted);
  (*channel)->send("nothing happens");
  fixture.settle();
  EXPECT_EQ(fixture.client_end.size(), 1U);
}

TEST(Channel, TextThatIsNotUtf8EndsIt) {
  ChannelFixture fixture;
  fixture.open();
  fixture.client->send("\xff\xfe");
  ASSERT_TRUE(fixture.until([&] { return !fixture.server_end.empty(); }));
  EXPECT_TRUE(fixture.at_server.empty());
  EXPECT_EQ(fixture.server_end[0].code, base::Code::kInvalidArgument);
}

TEST(Channel, ABinaryOneTakesAnyBytesAndNoText) {
  ServerOptions options;
  options.channel.is_binary = true;
  ChannelFixture fixture(options);
  fixture.open(options.channel);
  const std::string bytes("\0\xff\xfe", 3);
  fixture.client->send(bytes);
  fixture.peer->send(bytes);
  ASSERT_TRUE(
      fixture.until([&] { return fixture.at_server.size() + fixture.at_client.size() == 2; }));
  EXPECT_THAT(fixture.at_server, ElementsAre(bytes));
  EXPECT_THAT(fixture.at_client, ElementsAre(bytes));

  auto text = fixture.connect();  // of the other kind
  ASSERT_TRUE(text.ok());
  (*text)->on_closed([&](base::Error error) { fixture.client_end.push_back(std::move(error)); });
  (*text)->on_message([](std::string_view) {});
  ASSERT_TRUE(fixture.until([&] { return fixture.accepted.size() == 2; }));
  fixture.accepted.back()->on_message([](std::string_view) { FAIL() << "text was taken"; });
  (*text)->send("text");
  ASSERT_TRUE(fixture.until([&] { return !fixture.client_end.empty(); }));
  EXPECT_THAT(fixture.client_end[0].message, HasSubstr("only binary messages are understood"));
}

constexpr std::string_view kUpgrade =
    "GET /c HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
    "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";

TEST(Channel, AClientThatVanishesInTheMiddleOfAMessageIsNoticed) {
  ChannelFixture fixture;
  RawClient client(*unix_address(fixture.path));
  client.write(kUpgrade);
  ASSERT_TRUE(fixture.until([&] { return !fixture.accepted.empty(); }));
  fixture.peer = std::move(fixture.accepted[0]);
  fixture.peer->on_closed([&](base::Error error) { fixture.server_end.push_back(error); });
  fixture.peer->on_message([&](std::string_view text) { fixture.at_server.emplace_back(text); });
  // A masked text frame that announces 100 bytes and has 3 of them.
  client.write(std::string("\x81\xe4\0\0\0\0abc", 9));
  fixture.settle();
  EXPECT_TRUE(fixture.server_end.empty());
  client.close();
  ASSERT_TRUE(fixture.until([&] { return !fixture.server_end.empty(); }));
  EXPECT_EQ(fixture.server_end[0].code, base::Code::kUnavailable);
  EXPECT_TRUE(fixture.at_server.empty());
  EXPECT_TRUE(fixture.until([&] { return fixture.server->connections() == 0; }));
}

TEST(Channel, ASilentPeerIsGivenUpAndALivingOneIsNot) {
  ServerOptions options;
  options.channel.idle_timeout = milliseconds(40);
  ChannelFixture fixture(options);
  // This one answers pings though its owner says nothing.
  fixture.open();
  RawClient client(*unix_address(fixture.path));
  client.write(kUpgrade);
  ASSERT_TRUE(fixture.until([&] { return fixture.accepted.size() == 2; }));
  std::vector<base::Error> silent_end;
  fixture.accepted[1]->on_closed([&](base::Error error) { silent_end.push_back(error); });
  fixture.accepted[1]->on_message([](std::string_view) {});
  ASSERT_TRUE(fixture.until([&] { return !silent_end.empty(); }));
  EXPECT_EQ(silent_end[0].code, base::Code::kDeadlineExceeded) << silent_end[0].message;
  EXPECT_TRUE(fixture.server_end.empty());
}

TEST(Channel, DataBeforeTheHandshakeIsDoneIsRefused) {
  ChannelFixture fixture;
  run_beside(fixture.loop, [&] {
    RawClient client(*unix_address(fixture.path));
    client.write(std::string(kUpgrade) + "early");
    EXPECT_THAT(client.read_until("\r\n\r\n"), testing::StartsWith("HTTP/1.1 400"));
  });
}

TEST(Channel, LiveChannelsOutliveTheirServer) {
  ChannelFixture fixture;
  fixture.open();
  fixture.server.reset();
  fixture.client->send("still there");
  ASSERT_TRUE(fixture.until([&] { return !fixture.at_server.empty(); }));
  fixture.peer.reset();
  ASSERT_TRUE(fixture.until([&] { return !fixture.client_end.empty(); }));
}

TEST(Channel, AHundredChannelsEcho) {
  ChannelFixture fixture;
  fixture.server->on_channel([&](const HttpRequest&, std::unique_ptr<Channel> channel) {
    Channel* const echo = channel.get();
    fixture.accepted.push_back(std::move(channel));
    echo->on_message([echo](std::string_view text) { echo->send(std::string(text)); });
  });
  constexpr int kChannels = 100;
  std::vector<Call> attempts;
  std::vector<std::unique_ptr<Channel>> channels;
  std::map<std::string, int> echoes;
  for (int i = 0; i < kChannels; ++i) {
    attempts.push_back(connect_channel(fixture.loop, Endpoint::on_unix(fixture.path), "/e", {},
                                       test_deadline(), [&, i](ChannelResult result) {
                                         ASSERT_TRUE(result.ok()) << result.error().message;
                                         (*result)->on_message([&](std::string_view text) {
                                           ++echoes[std::string(text)];
                                         });
                                         for (int n = 0; n < 3; ++n)
                                           (*result)->send(std::to_string(i));
                                         channels.push_back(std::move(*result));
                                       }));
  }
  const auto complete = [&] {
    if (echoes.size() < kChannels) return false;
    return std::all_of(echoes.begin(), echoes.end(), [](const auto& e) { return e.second == 3; });
  };
  EXPECT_TRUE(fixture.until(complete));
  EXPECT_EQ(fixture.server->connections(), static_cast<std::size_t>(kChannels));
  channels.clear();
  fixture.accepted.clear();
  EXPECT_TRUE(fixture.until([&] { return fixture.server->connections() == 0; }));
}

}  // namespace
}  // namespace gangrun::net
