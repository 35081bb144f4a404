#include "net/asio_internal.h"
//
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <array>

#include "net/event_loop_internal.h"
#include "net/exchange_internal.h"
#include "net/test_support_internal.h"

namespace gangrun::net {
namespace {

using testing::HasSubstr;

// An exchange whose other end is a plain socket.
struct ExchangeFixture {
  explicit ExchangeFixture(ExchangeOptions options = {}) {
    std::array<int, 2> ends{};
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()), 0);
    other.reset(ends[1]);
    if (options.max_response_bytes == 0) options.max_response_bytes = 1000;
    const asio::generic::stream_protocol protocol(AF_UNIX, 0);
    exchange = std::make_shared<Exchange>(
        Stream(Stream::Socket(context_of(loop), protocol, ends[0])), "question", options);
    exchange->start();
  }

  void send(std::string_view bytes) const {
    EXPECT_EQ(::send(other.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(bytes.size()));
  }
  // Sends what does not end the answer, and waits until it has been taken.
  void send_part(std::string_view bytes) {
    const base::Instant before = exchange->moved();
    send(bytes);
    EXPECT_TRUE(loop.run_until([&] { return exchange->moved() != before; }, test_deadline()));
    EXPECT_FALSE(exchange->done());
  }
  base::Result<HttpResponse> result() {
    EXPECT_TRUE(loop.run_until([&] { return exchange->done(); }, test_deadline()));
    return exchange->take();
  }

  EventLoop loop;
  base::UniqueFd other;
  std::shared_ptr<Exchange> exchange;
};

TEST(Exchange, AnAnswerMayComeInAnyPieces) {
  const std::string answer =
      "HTTP/1.1 201 Created\r\nX-Own: v\r\nTransfer-Encoding: chunked\r\n\r\n"
      "3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n";
  for (std::size_t cut = 1; cut < answer.size(); ++cut) {
    for (const bool streamed : {false, true}) {
      ExchangeOptions options;
      std::string got;
      if (streamed) {
        options.sink = [&](std::string_view piece) -> base::Result<> {
          got += piece;
          return {};
        };
      }
      ExchangeFixture fixture(options);
      fixture.send_part(answer.substr(0, cut));
      fixture.send(answer.substr(cut));
      const auto result = fixture.result();
      ASSERT_TRUE(result.ok()) << cut << ": " << result.error().message;
      EXPECT_EQ(result->status, 201);
      EXPECT_EQ(result->headers.get("x-own"), "v");
      EXPECT_EQ(got + result->body, "abcde") << cut;
      EXPECT_EQ(result->body.empty(), streamed);
    }
  }
}

// HDFS' DataNodes do that.
TEST(Exchange, AnInterimAnswerThatNobodyAskedForIsPassedOver) {
  const std::string answer = "HTTP/1.1 201 Created\r\nContent-Length: 2\r\n\r\nok";
  for (const bool together : {false, true}) {
    ExchangeFixture fixture;
    const std::string interim = "HTTP/1.1 100 Continue\r\n\r\n";
    if (together) {
      fixture.send(interim + interim + answer);
    } else {
      fixture.send_part(interim);
      fixture.send(answer);
    }
    const auto result = fixture.result();
    ASSERT_TRUE(result.ok()) << result.error().message;
    EXPECT_EQ(result->status, 201);
    EXPECT_EQ(result->body, "ok");
  }
}

TEST(Exchange, TheEndOfTheConnectionEndsABodyWithoutALength) {
  ExchangeFixture fixture;
  fixture.send("HTTP/1.1 200 OK\r\n\r\nall of it");
  fixture.other.reset();
  const auto result = fixture.result();
  ASSERT_TRUE(result.ok()) << result.error().message;
  EXPECT_EQ(result->body, "all of it");
}

TEST(Exchange, AnEndTooEarlyIsAnError) {
  for (const std::string bytes :
       {"", "HTTP/1.1 2", "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nab",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nab"}) {
    ExchangeFixture fixture;
    fixture.send(bytes);
    fixture.other.reset();
    const auto result = fixture.result();
    ASSERT_FALSE(result.ok()) << bytes;
    EXPECT_EQ(result.error().code, base::Code::kUnavailable) << bytes;
  }
}

TEST(Exchange, HeaderAndBodyHaveLimits) {
  ExchangeFixture body;
  body.send("HTTP/1.1 200 OK\r\nContent-Length: 1001\r\n\r\n");
  EXPECT_EQ(body.result().error().code, base::Code::kResourceExhausted);
  ExchangeFixture header;
  header.send("HTTP/1.1 200 OK\r\nX: " + std::string(40'000, 'x'));
  EXPECT_EQ(header.result().error().code, base::Code::kResourceExhausted);
}

TEST(Exchange, WhatCannotBeReadToBeSentIsTheError) {
  ExchangeOptions options;
  options.more = []() -> base::Result<std::string_view> { return base::not_found("gone"); };
  ExchangeFixture fixture(options);
  const auto result = fixture.result();
  ASSERT_FALSE(result.ok());
  EXPECT_THAT(result.error().message, HasSubstr("gone"));
}

}  // namespace
}  // namespace gangrun::net
