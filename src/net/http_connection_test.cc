#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>

#include "net/client.h"
#include "net/test_server_internal.h"

namespace gangrun::net {
namespace {

using base::milliseconds;
using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

using HttpConnectionFixture = ServerFixture;

TEST(HttpConnection, SeveralRequestsOnOneConnectionEvenAtOnce) {
  HttpConnectionFixture fixture;
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

TEST(HttpConnection, ARequestMayArriveInAnyPieces) {
  HttpConnectionFixture fixture;
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

TEST(HttpConnection, ASlowHeaderIsGivenUp) {
  ServerOptions options;
  options.header_timeout = milliseconds(20);
  HttpConnectionFixture fixture(options);
  EXPECT_THAT(fixture.raw("GET / HT"), StartsWith("HTTP/1.1 408"));
  EXPECT_EQ(fixture.raw(""), "") << "who never says anything gets no answer";
  EXPECT_TRUE(fixture.settle());
}

TEST(HttpConnection, ASlowBodyIsGivenUp) {
  ServerOptions options;
  options.body_timeout = milliseconds(20);
  HttpConnectionFixture fixture(options);
  EXPECT_THAT(fixture.raw("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nabc"),
              StartsWith("HTTP/1.1 408"));
}

TEST(HttpConnection, AnIdleConnectionIsClosed) {
  ServerOptions options;
  options.idle_timeout = milliseconds(20);
  HttpConnectionFixture fixture(options);
  EXPECT_THAT(fixture.raw("GET /1 HTTP/1.1\r\nHost: x\r\n\r\n"), EndsWith("GET /1 "));
}

TEST(HttpConnection, LimitsOfHeaderAndBody) {
  ServerOptions options;
  options.max_header_bytes = 1000;
  options.max_body_bytes = 100;
  HttpConnectionFixture fixture(options);
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

TEST(HttpConnection, WhatIsNotHttpIsRefused) {
  HttpConnectionFixture fixture;
  EXPECT_THAT(fixture.raw("hello\r\n\r\n"), StartsWith("HTTP/1.1 400"));
  EXPECT_THAT(fixture.raw("GET /%zz HTTP/1.1\r\nHost: x\r\n\r\n"), StartsWith("HTTP/1.1 400"));
  EXPECT_THAT(fixture.raw(std::string("\0\x16\x03\x01", 4) + "\r\n\r\n"),
              StartsWith("HTTP/1.1 400"));
}

TEST(HttpConnection, AClientThatAsksFirstIsToldToContinue) {
  HttpConnectionFixture fixture;
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

TEST(HttpConnection, ALongPollIsAnsweredLater) {
  HttpConnectionFixture fixture;
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

TEST(HttpConnection, AClientThatGoesBeforeTheAnswerIsNoticed) {
  HttpConnectionFixture fixture;
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

// `nc -N` got no answer.
TEST(HttpConnection, AClientThatOnlyEndsItsOwnSideGetsItsAnswer) {
  HttpConnectionFixture fixture;
  std::deque<Responder> waiting;
  int looks = 0;
  fixture.server.on_half_closed([&](const Peer&) {
    if (++looks == 2) waiting.front().answer(text("late"));
    return true;
  });
  fixture.server.on_request(
      [&](const HttpRequest&, Responder responder) { waiting.push_back(std::move(responder)); });
  run_beside(fixture.loop, [&] {
    RawClient client(*unix_address(fixture.path));
    client.write("GET /wait HTTP/1.1\r\nHost: x\r\n\r\n");
    ::shutdown(client.fd(), SHUT_WR);
    EXPECT_THAT(client.read_until(), EndsWith("late"));
  });
  EXPECT_TRUE(fixture.settle());
}

TEST(HttpConnection, AHalfClosedClientThatGoesIsNoticed) {
  HttpConnectionFixture fixture;
  std::deque<Responder> waiting;
  bool gone = false;
  int looks = 0;
  fixture.server.on_half_closed([&](const Peer&) { return ++looks < 2; });
  fixture.server.on_request([&](const HttpRequest&, Responder responder) {
    responder.on_gone([&] { gone = true; });
    waiting.push_back(std::move(responder));
  });
  RawClient client(*unix_address(fixture.path));
  client.write("GET /wait HTTP/1.1\r\nHost: x\r\n\r\n");
  ::shutdown(client.fd(), SHUT_WR);
  ASSERT_TRUE(fixture.loop.run_until([&] { return gone; }, test_deadline()));
  EXPECT_EQ(looks, 2);
}

TEST(HttpConnection, ADroppedResponderIsAnInternalError) {
  HttpConnectionFixture fixture;
  fixture.server.on_request([](const HttpRequest&, const Responder&) {});
  const auto response = fixture.ask({});
  ASSERT_TRUE(response.ok()) << response.error().message;
  EXPECT_EQ(response->status, 500);
}

}  // namespace
}  // namespace gangrun::net
