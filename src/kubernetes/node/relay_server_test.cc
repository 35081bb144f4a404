#include "kubernetes/node/relay_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "base/test_deadline.h"
#include "base/test_log.h"
#include "kubernetes/node/test_client_internal.h"

namespace gangrun::kubernetes::node {
namespace {

using testing::Contains;
using testing::HasSubstr;

const base::Secret kToken(std::string(64, 'a'));

class RelayServerTest : public testing::Test {
 protected:
  void SetUp() override {
    const auto listening = server.listen({});
    ASSERT_TRUE(listening.ok()) << listening.error().message;
    ports = *listening;
  }
  bool until(const std::function<bool()>& done) { return loop.run_until(done, base::soon()); }
  // Looks at a socket that the loop does not watch.
  bool comes(const base::UniqueFd& agent, const std::string& text) {
    std::string got;
    const bool has_come = until_ticks([&] {
      char buffer[1024];
      const ssize_t size = ::recv(agent.get(), buffer, sizeof buffer, MSG_DONTWAIT);
      if (size > 0) got.append(buffer, static_cast<std::size_t>(size));
      return got.size() >= text.size();
    });
    return has_come && got == text;
  }
  bool ends(const base::UniqueFd& agent) {
    char byte = 0;
    return until_ticks(
        [&] { return ::recv(agent.get(), &byte, 1, MSG_DONTWAIT) == 0 || errno == ECONNRESET; });
  }
  bool until_ticks(const std::function<bool()>& done) {
    const std::function<void()> tick = [&] {
      ticker = loop.after(std::chrono::milliseconds(1), tick);
    };
    tick();
    const bool is_done = until(done);
    ticker.reset();
    return is_done;
  }
  static void say(const base::UniqueFd& agent, const std::string& text) {
    EXPECT_EQ(::send(agent.get(), text.data(), text.size(), 0), std::ssize(text));
  }

  net::EventLoop loop;
  net::Timer ticker;
  base::LogRecorder log;
  RelayServer server{loop, log, kToken, "10.0.0.7"};
  RelayServer::Ports ports;
};

TEST_F(RelayServerTest, SaysWhereItIsAndCarriesBothWays) {
  const TestClient client(loop, ports.client, kToken, kRelayGreeting);
  ASSERT_TRUE(until([&] { return client.frames.size() == 1; }));
  client.send(CarryFrame{});
  EXPECT_EQ(client.frames[0], to_bytes(HereFrame{"10.0.0.7:" + std::to_string(ports.agents)}));
  const base::UniqueFd agent = connected_to(ports.agents);
  say(agent, "hello");
  ASSERT_TRUE(until([&] { return client.frames.size() == 3; }));
  EXPECT_EQ(client.frames[1], to_bytes(net::OpenFrame{1}));
  EXPECT_EQ(client.frames[2], to_bytes(net::StreamFrame{1, "dhello"}));
  client.send(net::StreamFrame{1, "dwelcome"});
  EXPECT_TRUE(comes(agent, "welcome"));
  client.send(net::StreamFrame{1, ""});
  EXPECT_TRUE(ends(agent));
}

TEST_F(RelayServerTest, AnAgentThatIsEarlyWaitsForTheClient) {
  const base::UniqueFd agent = connected_to(ports.agents);
  say(agent, "hello");
  // It was accepted before.
  const base::UniqueFd other = connected_to(ports.agents);
  bool has_run = false;
  const net::Timer later = loop.after(std::chrono::milliseconds(20), [&] { has_run = true; });
  ASSERT_TRUE(until([&] { return has_run; }));
  const TestClient client(loop, ports.client, kToken, kRelayGreeting);
  ASSERT_TRUE(until([&] { return client.frames.size() == 1; }));
  has_run = false;
  const net::Timer even_later = loop.after(std::chrono::milliseconds(20), [&] { has_run = true; });
  ASSERT_TRUE(until([&] { return has_run; }));
  EXPECT_EQ(client.frames.size(), 1U) << "before it wants them";
  client.send(CarryFrame{});
  ASSERT_TRUE(until([&] { return client.frames.size() == 4; }));
  EXPECT_THAT(client.frames, Contains(to_bytes(net::StreamFrame{1, "dhello"})));
  EXPECT_THAT(client.frames, Contains(to_bytes(net::OpenFrame{2})));
}

TEST_F(RelayServerTest, ANewClientTakesThePlaceOfTheOldOne) {
  const TestClient first(loop, ports.client, kToken, kRelayGreeting);
  ASSERT_TRUE(until([&] { return first.frames.size() == 1; }));
  first.send(CarryFrame{});
  const base::UniqueFd agent = connected_to(ports.agents);
  ASSERT_TRUE(until([&] { return first.frames.size() == 2; }));
  const TestClient stranger(loop, ports.client, base::Secret("another"), kRelayGreeting);
  ASSERT_TRUE(until([&] { return stranger.is_closed; }));
  EXPECT_FALSE(first.is_closed);
  const TestClient second(loop, ports.client, kToken, kRelayGreeting);
  ASSERT_TRUE(until([&] { return second.frames.size() == 1 && first.is_closed; }));
  EXPECT_TRUE(ends(agent));
  second.send(CarryFrame{});
  const base::UniqueFd again = connected_to(ports.agents);
  EXPECT_TRUE(until([&] { return second.frames.size() == 2; }));
}

TEST_F(RelayServerTest, GivesSignsOfLife) {
  const TestClient client(loop, ports.client, kToken, kRelayGreeting);
  ASSERT_TRUE(until([&] { return client.frames.size() == 1; }));
  client.send(PingFrame{});
  ASSERT_TRUE(until([&] { return client.frames.size() == 2; }));
  EXPECT_EQ(client.frames[1], to_bytes(AnswerFrame{}));
}

TEST_F(RelayServerTest, AClientThatSpeaksLikeARelayIsNone) {
  const TestClient client(loop, ports.client, kToken, kRelayGreeting);
  ASSERT_TRUE(until([&] { return client.frames.size() == 1; }));
  client.send(net::OpenFrame{1});
  EXPECT_TRUE(until([&] { return client.is_closed; }));
  EXPECT_THAT(log.lines, Contains(HasSubstr("what only a relay sends")));
}

}  // namespace
}  // namespace gangrun::kubernetes::node
