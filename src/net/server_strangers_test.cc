#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "base/format.h"
#include "net/server.h"
#include "net/strangers.h"
#include "net/test_server_internal.h"

namespace gangrun::net {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

ServerOptions few_strangers() {
  ServerOptions options;
  options.max_strangers = 4;  // two of one source
  return options;
}

// Connections from other addresses of the loopback network.
RawClient from(const std::string& source, std::uint16_t port) {
  return RawClient(*ip_address("127.0.0.1", port), *ip_address(source, 0));
}

class Strange : public testing::Test {
 protected:
  explicit Strange(const ServerOptions& options = few_strangers()) : server(loop, options) {
    server.on_admission([this](const HttpRequest& request) -> std::optional<HttpResponse> {
      ++asked;
      if (request.bearer_token() == "secret") return std::nullopt;
      return HttpResponse{401, "text/plain", {}, "no"};
    });
    server.on_request([](HttpRequest request, Responder responder) {
      responder.answer(text("hello " + request.body));
    });
    server.on_crowd([this](std::size_t all, std::size_t of_source, const std::string& source) {
      crowds.push_back(base::format("{} {} {}", all, of_source, source));
    });
    port = *server.listen_loopback(0);
    EXPECT_TRUE(server.listen_unix(folder / "socket").ok());
  }

  void open_connections(std::size_t count) {
    ASSERT_TRUE(loop.run_until([&] { return server.connections() == count; }, test_deadline()));
  }

  std::string ask(RawClient& client, const std::string& bytes) {
    std::string answer;
    run_beside(loop, [&] {
      client.write(bytes);
      answer = client.read_until();
    });
    return answer;
  }

  static constexpr const char* kGood =
      "GET / HTTP/1.1\r\nAuthorization: Bearer secret\r\nConnection: close\r\n\r\n";

  TestFolder folder;
  EventLoop loop;
  int asked = 0;
  std::vector<std::string> crowds;
  Server server;
  std::uint16_t port = 0;
};

TEST_F(Strange, HalfOpenConnectionsOfOneSourceLeaveRoomForOthers) {
  std::vector<RawClient> half_open;
  for (int i = 0; i < 20; ++i) half_open.push_back(from("127.0.0.1", port));
  open_connections(2);
  RawClient other = from("127.0.0.2", port);
  EXPECT_THAT(ask(other, kGood), StartsWith("HTTP/1.1 200"));
  RawClient local(*unix_address(folder / "socket"));
  EXPECT_THAT(ask(local, kGood), StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(crowds, testing::ElementsAre("2 2 127.0.0.1"));
}

// They were turned away, and came again after pauses that grow: 2,000 agents of one host took many
// times as long as their handshakes.
TEST_F(Strange, ACrowdOfOneSourceWaitsForItsTurn) {
  std::vector<RawClient> crowd;
  for (int i = 0; i < 8; ++i) crowd.push_back(from("127.0.0.1", port));
  open_connections(2);
  for (RawClient& client : crowd) EXPECT_THAT(ask(client, kGood), StartsWith("HTTP/1.1 200"));
  EXPECT_TRUE(crowds.empty());
}

constexpr base::Duration kShort = base::milliseconds(100);

ServerOptions soon_impatient() {
  ServerOptions options = few_strangers();
  options.strangers_patience = kShort;
  return options;
}

class StrangeForLong : public Strange {
 protected:
  StrangeForLong() : Strange(soon_impatient()) {}
};

TEST_F(StrangeForLong, WhoWaitsForTurnsThatDoNotComeGetsThatOfTheOldest) {
  RawClient first = from("127.0.0.1", port);
  RawClient second = from("127.0.0.1", port);
  open_connections(2);
  RawClient third = from("127.0.0.1", port);
  EXPECT_THAT(ask(third, kGood), StartsWith("HTTP/1.1 200"));
  run_beside(loop, [&] { EXPECT_EQ(first.read_until(), ""); });
}

// 1,100 connections of another user delayed a request of the agent's own by 8 s.
TEST_F(Strange, WhoIsRefusedOnArrivalTakesNoPlace) {
  std::size_t refused = 0;
  bool refuses = true;
  server.on_arrival([&](const Peer& peer) -> std::optional<HttpResponse> {
    EXPECT_THAT(peer.address, StartsWith("127.0.0.1:"));
    if (!refuses) return std::nullopt;
    ++refused;
    return HttpResponse{403, "text/plain", {}, "not yours"};
  });
  std::vector<RawClient> others;
  for (int i = 0; i < 20; ++i) others.push_back(from("127.0.0.1", port));
  ASSERT_TRUE(loop.run_until([&] { return refused == others.size(); }, test_deadline()));
  EXPECT_EQ(server.connections(), 0U);
  EXPECT_THAT(others.front().read_until(), StartsWith("HTTP/1.1 403"));
  refuses = false;
  RawClient own = from("127.0.0.1", port);
  EXPECT_THAT(ask(own, kGood), StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(crowds, testing::IsEmpty());
  EXPECT_EQ(asked, 1);
}

TEST_F(Strange, WhoHasBeenAdmittedIsNoStrangerAnyMore) {
  std::vector<RawClient> admitted;
  for (int i = 0; i < 6; ++i) {
    admitted.push_back(from("127.0.0.1", port));
    run_beside(loop, [&] {
      admitted.back().write("GET / HTTP/1.1\r\nAuthorization: Bearer secret\r\n\r\n");
      EXPECT_THAT(admitted.back().read_until("hello"), StartsWith("HTTP/1.1 200"));
    });
  }
  EXPECT_EQ(server.connections(), 6U);
  EXPECT_TRUE(crowds.empty());
}

TEST_F(Strange, AStrangersBodyIsNotReadAndItsConnectionEnds) {
  RawClient client = from("127.0.0.1", port);
  // The body never comes.
  const std::string answer =
      ask(client, "POST / HTTP/1.1\r\nContent-Length: 1000\r\nExpect: 100-continue\r\n\r\n");
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 401"));
  EXPECT_THAT(answer, HasSubstr("Connection: close"));
  EXPECT_EQ(asked, 1);
  client.close();
  open_connections(0);
}

TEST_F(StrangeForLong, TheOldestGivesWayToOneThatComesLater) {
  RawClient first = from("127.0.0.1", port);
  RawClient second = from("127.0.0.1", port);
  open_connections(2);
  loop.run_until([] { return false; }, loop.now() + kShort);
  RawClient third = from("127.0.0.1", port);
  EXPECT_THAT(ask(third, kGood), StartsWith("HTTP/1.1 200"));
  run_beside(loop, [&] { EXPECT_EQ(first.read_until(), ""); });
}

}  // namespace
}  // namespace gangrun::net
