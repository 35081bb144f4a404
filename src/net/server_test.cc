#include "net/server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <deque>

#include "net/client.h"
#include "net/test_support_internal.h"

namespace gangrun::net {
namespace {

using base::milliseconds;
using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

HttpResponse text(std::string body) { return {200, "text/plain", {}, std::move(body)}; }

// A server on a Unix socket in a folder of its own.
struct Fixture {
  explicit Fixture(const ServerOptions& options = {}) : server(loop, options) {
    const auto listening = server.listen_unix(path);
    EXPECT_TRUE(listening.ok()) << listening.error().message;
    server.on_request([](HttpRequest request, Responder responder) {
      responder.answer(text(request.method + " " + request.path + " " + request.body));
    });
  }

  // What a client reads after it has written `bytes`.
  std::string raw(const std::string& bytes) {
    std::string answer;
    run_beside(loop, [&] {
      RawClient client(*unix_address(path));
      client.write(bytes);
      answer = client.read_until();
    });
    return answer;
  }

  base::Result<HttpResponse> ask(const HttpRequest& question) {
    base::Result<HttpResponse> answer = base::internal("not asked");
    run_beside(loop, [&] { answer = request(Endpoint::on_unix(path), question, test_deadline()); });
    return answer;
  }

  // Lets the loop go on until nothing but the server is left.
  bool settle() {
    return loop.run_until([&] { return server.connections() == 0; }, test_deadline());
  }

  TestFolder folder;
  std::string path = folder / "socket";
  EventLoop loop;
  Server server;
};

TEST(Server, AnswersARequestOnAUnixSocketAndKnowsWhoAsks) {
  Fixture fixture;
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

TEST(Server, SeveralRequestsOnOneConnectionEvenAtOnce) {
  Fixture fixture;
  const std::string answers = fixture.raw(
      "GET /1 HTTP/1.1\r\nHost: x\r\n\r\n"
      "POST /2 HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc"
      "HEAD /3 HTTP/1.1\r\nHost: x\r\n\r\n"
      "GET /4 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  EXPECT_THAT(answers, HasSubstr("GET /1 "));
  EXPECT_THAT(answers, HasSubstr("POST /2 abc"));
  EXPECT_THAT(answers, testing::Not(HasSubstr("HEAD /3")));
  EXPECT_THAT(answers, EndsWith("GET /4 "));
  EXPECT_TRUE(fixture.settle());
}

TEST(Server, ARequestMayArriveInAnyPieces) {
  Fixture fixture;
  const std::string bytes =
      "POST /p HTTP/1.1\r\nHost: x\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n"
      "3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n";
  run_beside(fixture.loop, [&] {
    for (std::size_t cut = 1; cut < bytes.size(); ++cut) {
      RawClient client(*unix_address(fixture.path));
      client.write(bytes.substr(0, cut));
      client.write(bytes.substr(cut));
      ASSERT_THAT(client.read_until(), EndsWith("POST /p abcde")) << "cut at " << cut;
    }
  });
}

TEST(Server, ASlowHeaderIsGivenUp) {
  ServerOptions options;
  options.header_timeout = milliseconds(20);
  Fixture fixture(options);
  EXPECT_THAT(fixture.raw("GET / HT"), StartsWith("HTTP/1.1 408"));
  EXPECT_EQ(fixture.raw(""), "") << "who never says anything gets no answer";
  EXPECT_TRUE(fixture.settle());
}

TEST(Server, ASlowBodyIsGivenUp) {
  ServerOptions options;
  options.body_timeout = milliseconds(20);
  Fixture fixture(options);
  EXPECT_THAT(fixture.raw("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nabc"),
              StartsWith("HTTP/1.1 408"));
}

TEST(Server, AnIdleConnectionIsClosed) {
  ServerOptions options;
  options.idle_timeout = milliseconds(20);
  Fixture fixture(options);
  EXPECT_THAT(fixture.raw("GET /1 HTTP/1.1\r\nHost: x\r\n\r\n"), EndsWith("GET /1 "));
}

TEST(Server, LimitsOfHeaderAndBody) {
  ServerOptions options;
  options.max_header_bytes = 1000;
  options.max_body_bytes = 100;
  Fixture fixture(options);
  EXPECT_THAT(
      fixture.raw("GET / HTTP/1.1\r\nHost: x\r\nX-Long: " + std::string(2000, 'a') + "\r\n\r\n"),
      StartsWith("HTTP/1.1 431"));
  EXPECT_THAT(fixture.raw("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 101\r\n\r\n"),
              StartsWith("HTTP/1.1 413"));
  // The announced size is honest here, and the client has sent everything before it reads.
  EXPECT_THAT(fixture.raw("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 50000\r\n\r\n" +
                          std::string(50000, 'b')),
              StartsWith("HTTP/1.1 413"));
  EXPECT_THAT(fixture.raw("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nff\r\n" +
                          std::string(255, 'c') + "\r\n0\r\n\r\n"),
              StartsWith("HTTP/1.1 413"));
}

TEST(Server, WhatIsNotHttpIsRefused) {
  Fixture fixture;
  EXPECT_THAT(fixture.raw("hello\r\n\r\n"), StartsWith("HTTP/1.1 400"));
  EXPECT_THAT(fixture.raw("GET /%zz HTTP/1.1\r\nHost: x\r\n\r\n"), StartsWith("HTTP/1.1 400"));
  EXPECT_THAT(fixture.raw(std::string("\0\x16\x03\x01", 4) + "\r\n\r\n"),
              StartsWith("HTTP/1.1 400"));
}

TEST(Server, AClientThatAsksFirstIsToldToContinue) {
  Fixture fixture;
  run_beside(fixture.loop, [&] {
    RawClient client(*unix_address(fixture.path));
    client.write(
        "POST /up HTTP/1.1\r\nHost: x\r\nConnection: close\r\nExpect: 100-continue\r\n"
        "Content-Length: 3\r\n\r\n");
    EXPECT_EQ(client.read_until("\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
    client.write("abc");
    EXPECT_THAT(client.read_until(), EndsWith("POST /up abc"));
  });
}

TEST(Server, ALongPollIsAnsweredLater) {
  Fixture fixture;
  std::deque<Responder> waiting;
  Timer answer;
  fixture.server.on_request([&](const HttpRequest&, Responder responder) {
    waiting.push_back(std::move(responder));
    answer = fixture.loop.after(milliseconds(5), [&] {
      EXPECT_FALSE(waiting.front().closed());
      waiting.front().answer(text("late"));
    });
  });
  const auto response = fixture.ask({});
  ASSERT_TRUE(response.ok()) << response.error().message;
  EXPECT_EQ(response->body, "late");
}

TEST(Server, AClientThatGoesBeforeTheAnswerIsNoticed) {
  Fixture fixture;
  std::deque<Responder> waiting;
  bool gone = false;
  fixture.server.on_request([&](const HttpRequest&, Responder responder) {
    responder.on_gone([&] { gone = true; });
    waiting.push_back(std::move(responder));
  });
  RawClient client(*unix_address(fixture.path));
  client.write("GET /wait HTTP/1.1\r\nHost: x\r\n\r\n");
  ASSERT_TRUE(fixture.loop.run_until([&] { return !waiting.empty(); }, test_deadline()));
  EXPECT_FALSE(waiting.front().closed());
  client.close();
  ASSERT_TRUE(fixture.loop.run_until([&] { return gone; }, test_deadline()));
  EXPECT_TRUE(waiting.front().closed());
  waiting.front().answer(text("to nobody"));
  EXPECT_EQ(fixture.server.connections(), 0U);
}

TEST(Server, ADroppedResponderIsAnInternalError) {
  Fixture fixture;
  fixture.server.on_request([](const HttpRequest&, const Responder&) {});
  const auto response = fixture.ask({});
  ASSERT_TRUE(response.ok()) << response.error().message;
  EXPECT_EQ(response->status, 500);
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
  Fixture fixture(options);
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
  Fixture fixture;
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
