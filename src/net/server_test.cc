#include "net/server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <deque>

#include "net/client.h"
#include "net/test_server_internal.h"

namespace gangrun::net {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

using ServerFixture = ServerFixture;

TEST(Server, AnswersARequestOnAUnixSocketAndKnowsWhoAsks) {
  ServerFixture fixture;
  HttpRequest seen;
  fixture.server.on_request([&](HttpRequest request, Responder responder) {
    seen = request;
    EXPECT_FALSE(responder.closed());
    responder.answer({202, "application/json", {{"X-Extra", "1"}}, "{}"});
    EXPECT_TRUE(responder.closed());
  });
  const auto answer = fixture.ask(
      {"POST", "/v1/a b", {{"k", "v w"}}, {{"Authorization", "Bearer abc"}}, "body", {}});
  ASSERT_TRUE(answer.ok()) << answer.error().message;
  EXPECT_EQ(answer->status, 202);
  EXPECT_EQ(answer->content_type, "application/json");
  EXPECT_EQ(answer->headers.get("x-extra"), "1");
  EXPECT_EQ(answer->body, "{}");
  EXPECT_EQ(seen.method, "POST");
  EXPECT_EQ(seen.path, "/v1/a b");
  EXPECT_EQ(seen.query.at("k"), "v w");
  EXPECT_EQ(seen.bearer_token(), "abc");
  EXPECT_EQ(seen.body, "body");
  EXPECT_EQ(seen.peer.kind, PeerKind::kUnix);
  EXPECT_EQ(seen.peer.uid, ::getuid());
  EXPECT_EQ(seen.peer.pid, ::getpid());
  EXPECT_TRUE(fixture.settle());
}

TEST(Server, TheSocketIsOnlyForItsUserAndIsRemovedAtTheEnd) {
  TestFolder folder;
  const std::string path = folder / "socket";
  EventLoop loop;
  const mode_t former = ::umask(0);
  auto server = std::make_unique<Server>(loop);
  ASSERT_TRUE(server->listen_unix(path).ok());
  ::umask(former);
  struct stat found {};
  ASSERT_EQ(::lstat(path.c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 07777, 0600U);
  Server second(loop);
  const auto refused = second.listen_unix(path);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, base::Code::kAlreadyExists);
  EXPECT_THAT(refused.error().message, HasSubstr(path));
  server.reset();
  EXPECT_NE(::lstat(path.c_str(), &found), 0);
}

TEST(Server, RemovesNothingThatIsNotItsOwn) {
  TestFolder folder;
  const std::string path = folder / "socket";
  EventLoop loop;
  auto server = std::make_unique<Server>(loop);
  ASSERT_TRUE(server->listen_unix(path).ok());
  // Somebody has put another socket there since.
  std::filesystem::remove(path);
  Server other(loop);
  ASSERT_TRUE(other.listen_unix(path).ok());
  server.reset();
  EXPECT_TRUE(std::filesystem::exists(path));
}

TEST(Server, AUnixPathMayBeLong) {
  TestFolder folder;
  const std::string parent = folder / std::string(200, 'd');
  std::filesystem::create_directory(parent);
  const std::string path = parent + "/socket";
  EventLoop loop;
  auto server = std::make_unique<Server>(loop);
  const auto listening = server->listen_unix(path);
  ASSERT_TRUE(listening.ok()) << listening.error().message;
  server->on_request([](const HttpRequest&, Responder responder) { responder.answer(text("ok")); });
  run_beside(loop, [&] {
    const auto answer = request(Endpoint::on_unix(path), {}, test_deadline());
    ASSERT_TRUE(answer.ok()) << answer.error().message;
    EXPECT_EQ(answer->body, "ok");
  });
  server.reset();
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(Server, WithoutACallbackEverythingIsNotFound) {
  TestFolder folder;
  EventLoop loop;
  Server server(loop);
  ASSERT_TRUE(server.listen_unix(folder / "s").ok());
  run_beside(loop, [&] {
    const auto answer = request(Endpoint::on_unix(folder / "s"), {}, test_deadline());
    ASSERT_TRUE(answer.ok());
    EXPECT_EQ(answer->status, 404);
  });
}

TEST(Server, MoreConnectionsThanAllowedAreTurnedAway) {
  ServerOptions options;
  options.max_connections = 2;
  ServerFixture fixture(options);
  RawClient first(*unix_address(fixture.path));
  RawClient second(*unix_address(fixture.path));
  ASSERT_TRUE(
      fixture.loop.run_until([&] { return fixture.server.connections() == 2; }, test_deadline()));
  RawClient third(*unix_address(fixture.path));
  run_beside(fixture.loop, [&] { EXPECT_THAT(third.read_until(), StartsWith("HTTP/1.1 503")); });
  first.close();
  ASSERT_TRUE(
      fixture.loop.run_until([&] { return fixture.server.connections() == 1; }, test_deadline()));
  EXPECT_THAT(fixture.raw("GET / HTTP/1.1\r\nConnection: close\r\n\r\n"),
              StartsWith("HTTP/1.1 200"));
}

TEST(Server, ACallbackMayDestroyTheServer) {
  TestFolder folder;
  EventLoop loop;
  auto server = std::make_unique<Server>(loop);
  ASSERT_TRUE(server->listen_unix(folder / "s").ok());
  server->on_request([&](const HttpRequest&, Responder responder) {
    server.reset();
    EXPECT_TRUE(responder.closed());
    responder.answer(text("too late"));
  });
  run_beside(loop, [&] {
    const auto answer = request(Endpoint::on_unix(folder / "s"), {}, test_deadline());
    ASSERT_FALSE(answer.ok());
    EXPECT_EQ(answer.error().code, base::Code::kUnavailable) << answer.error().message;
  });
}

TEST(Server, AResponderMayOutliveServerAndLoop) {
  TestFolder folder;
  std::deque<Responder> waiting;
  RawClient* client = nullptr;
  std::unique_ptr<RawClient> owner;
  {
    EventLoop loop;
    Server server(loop);
    ASSERT_TRUE(server.listen_unix(folder / "s").ok());
    server.on_request(
        [&](const HttpRequest&, Responder responder) { waiting.push_back(std::move(responder)); });
    owner = std::make_unique<RawClient>(*unix_address(folder / "s"));
    client = owner.get();
    client->write("GET / HTTP/1.1\r\n\r\n");
    ASSERT_TRUE(loop.run_until([&] { return !waiting.empty(); }, test_deadline()));
  }
  EXPECT_TRUE(waiting.front().closed());
  waiting.clear();
  EXPECT_EQ(client->read_until(), "");
}

TEST(Server, PlainHttpOnLoopback) {
  ServerFixture fixture;
  const auto port = fixture.server.listen_loopback(0);
  ASSERT_TRUE(port.ok());
  ASSERT_NE(*port, 0);
  PeerKind kind = PeerKind::kUnix;
  fixture.server.on_request([&](const HttpRequest& request, Responder responder) {
    kind = request.peer.kind;
    responder.answer(text(request.peer.address));
  });
  run_beside(fixture.loop, [&] {
    RawClient client(*ip_address("127.0.0.1", *port));
    client.write("GET / HTTP/1.0\r\n\r\n");
    EXPECT_THAT(client.read_until(), HasSubstr("127.0.0.1:"));
  });
  EXPECT_EQ(kind, PeerKind::kTcp);
  const auto taken = fixture.server.listen_loopback(*port);
  ASSERT_FALSE(taken.ok());
  EXPECT_THAT(taken.error().message, HasSubstr(std::to_string(*port)));
}

}  // namespace
}  // namespace gangrun::net
