#include "kubernetes/commands/pod_forwarder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <chrono>
#include <deque>
#include <vector>

#include "kubernetes/test_idle_client.h"
#include "kubernetes/test_tunnel.h"
#include "net/tunnel.h"

namespace gangrun::kubernetes::commands {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::chrono::seconds kLimit(20);

// A client that only forwards, to pods of the test.
class TestClient final : public kubernetes::IdleClient {
 public:
  TestClient() : IdleClient("ns") {}
  std::unique_ptr<kubernetes::Tunnel> forward(std::string name_space, std::string pod,
                                              std::uint16_t port, base::Instant,
                                              kubernetes::TunnelCallbacks callbacks) override {
    asked.push_back(name_space + "/" + pod + ":" + std::to_string(port));
    pods.emplace_back();
    return std::make_unique<TestTunnel>(pods.back(), std::move(callbacks));
  }

  std::vector<std::string> asked;
  std::deque<TestPod> pods;
};

class PodForwarderTest : public testing::Test {
 protected:
  void SetUp() override {
    const auto listening = forwarder.listen(0);
    ASSERT_TRUE(listening.ok()) << listening.error().message;
    port = *listening;
    forwarder.set_target(PodPort{"board", 2222});
  }
  bool until(const std::function<bool()>& done) {
    return loop.run_until(done, loop.now() + kLimit);
  }
  base::UniqueFd connected() const {
    base::UniqueFd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::connect(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    return socket;
  }
  void try_once() {
    forwarder.try_once([this](base::Result<> result) { tried.push_back(std::move(result)); });
  }

  net::EventLoop loop;
  TestClient client;
  std::vector<std::string> broken;
  std::vector<base::Result<>> tried;
  std::uint16_t port = 0;
  PodForwarder forwarder{loop, client,
                         [this](const base::Error& error) { broken.push_back(error.message); }};
};

TEST_F(PodForwarderTest, EachConnectionHasAWayOfItsOwn) {
  const base::UniqueFd first = connected();
  ASSERT_TRUE(until([&] { return client.pods.size() == 1; }));
  const base::UniqueFd second = connected();
  ASSERT_TRUE(until([&] { return client.pods.size() == 2; }));
  EXPECT_THAT(client.asked, ElementsAre("ns/board:2222", "ns/board:2222"));
  client.pods[1].open();
  ASSERT_EQ(::send(second.get(), "hello", 5, MSG_NOSIGNAL), 5);
  ASSERT_TRUE(until([&] { return client.pods[1].sent == "hello"; }));
  client.pods[1].say("you");
  client.pods[1].end({});
  ASSERT_TRUE(until([&] { return client.pods[1].is_closed; }));
  std::array<char, 10> buffer{};
  EXPECT_EQ(::recv(second.get(), buffer.data(), buffer.size(), MSG_WAITALL), 3);
  EXPECT_FALSE(client.pods[0].is_closed);
  EXPECT_THAT(broken, ElementsAre());
}

TEST_F(PodForwarderTest, WithoutAPodAConnectionIsRefused) {
  forwarder.set_target(std::nullopt);
  const base::UniqueFd user = connected();
  ASSERT_TRUE(until([&] { return !broken.empty(); }));
  EXPECT_THAT(broken, ElementsAre("the task has no running pod"));
  EXPECT_TRUE(client.asked.empty());
  forwarder.set_target(PodPort{"next", 8000});
  const base::UniqueFd later = connected();
  ASSERT_TRUE(until([&] { return !client.asked.empty(); }));
  EXPECT_THAT(client.asked, ElementsAre("ns/next:8000"));
}

TEST_F(PodForwarderTest, ConnectionsHaveALimit) {
  std::vector<base::UniqueFd> users;
  for (std::size_t i = 0; i < net::kMaxTunnels; ++i) users.push_back(connected());
  ASSERT_TRUE(until([&] { return client.pods.size() == net::kMaxTunnels; }));
  users.push_back(connected());
  ASSERT_TRUE(until([&] { return !broken.empty(); }));
  EXPECT_THAT(broken.front(), HasSubstr("128 connections are open already"));
}

TEST_F(PodForwarderTest, ATryTellsWhetherSomebodyListens) {
  try_once();
  client.pods[0].open();
  client.pods[0].end(base::unavailable("dial tcp4 127.0.0.1:2222: connect: connection refused"));
  ASSERT_EQ(tried.size(), 1U);
  EXPECT_EQ(tried[0].error().message, "nothing listens at port 2222 of pod board");
  try_once();
  client.pods[1].open();
  EXPECT_EQ(tried.size(), 1U) << "a refusal may still come";
  ASSERT_TRUE(until([&] { return tried.size() == 2; }));
  EXPECT_TRUE(tried[1].ok());
  EXPECT_TRUE(client.pods[1].is_closed);
  try_once();
  client.pods[2].end(base::not_found("pods \"board\" not found"));
  ASSERT_EQ(tried.size(), 3U);
  EXPECT_EQ(tried[2].error().code, base::Code::kNotFound);
}

TEST_F(PodForwarderTest, ATryWithoutAPodFailsLater) {
  forwarder.set_target(std::nullopt);
  try_once();
  EXPECT_TRUE(tried.empty());
  ASSERT_TRUE(until([&] { return tried.size() == 1; }));
  EXPECT_EQ(tried[0].error().code, base::Code::kUnavailable);
}

}  // namespace
}  // namespace gangrun::kubernetes::commands
