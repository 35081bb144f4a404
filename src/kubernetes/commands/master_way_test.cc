#include "kubernetes/commands/master_way.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <chrono>
#include <deque>
#include <string>
#include <vector>

#include "base/unique_fd.h"
#include "kubernetes/test_idle_client.h"
#include "kubernetes/test_tunnel.h"

namespace gangrun::kubernetes::commands {
namespace {

using base::Code;
using base::Result;
using testing::ElementsAre;
using testing::HasSubstr;

// A client whose pods say what the test has them say as soon as they are asked.
class TestClient final : public kubernetes::IdleClient {
 public:
  explicit TestClient(net::EventLoop& loop) : IdleClient("lab"), loop_(loop) {}
  std::unique_ptr<kubernetes::Tunnel> forward(std::string name_space, std::string pod,
                                              std::uint16_t port, base::Instant,
                                              kubernetes::TunnelCallbacks callbacks) override {
    asked.push_back(name_space + "/" + pod + ":" + std::to_string(port));
    TestPod& there = pods.emplace_back();
    auto tunnel = std::make_unique<TestTunnel>(there, std::move(callbacks));
    loop_.post([this, &there] {
      if (refusal) return there.end(*refusal);
      there.open();
      there.say("hello");
    });
    return tunnel;
  }

  std::vector<std::string> asked;
  std::deque<TestPod> pods;
  std::optional<base::Error> refusal;

 private:
  net::EventLoop& loop_;
};

// The first bytes that come from there, by a plain connection.
Result<std::string> first_words(const net::Endpoint& master) {
  const base::UniqueFd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(master.port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::connect(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
    return base::unavailable("it is not there");
  }
  std::array<char, 64> buffer{};
  const ssize_t got = ::recv(socket.get(), buffer.data(), buffer.size(), 0);
  if (got <= 0) return base::unavailable("it has closed the connection");
  return std::string(buffer.data(), static_cast<std::size_t>(got));
}

struct MasterWayTest : testing::Test {
  Result<std::string> call(const std::string& pod) {
    return way.call<std::string>(pod, "ab", loop.now() + std::chrono::seconds(20), first_words);
  }

  net::EventLoop loop;
  TestClient client{loop};
  MasterWay way{loop, client};
};

TEST_F(MasterWayTest, LeadsToThePodThatIsTheMasterNow) {
  EXPECT_EQ(call("wine-master-a").value_or(""), "hello");
  EXPECT_EQ(call("wine-master-b").value_or(""), "hello");
  EXPECT_THAT(client.asked, ElementsAre("lab/wine-master-a:17403", "lab/wine-master-b:17403"));
}

TEST_F(MasterWayTest, ABrokenWayIsToldAsSilence) {
  client.refusal = base::not_found("pod wine-master-a is not there");
  const auto answer = call("wine-master-a");
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.error().code, Code::kUnavailable);
  EXPECT_THAT(answer.error().message, HasSubstr("is not there"));
}

TEST_F(MasterWayTest, WhatTheMasterItselfRefusesStays) {
  const auto answer =
      way.call<std::string>("wine-master-a", "ab", loop.now() + std::chrono::seconds(20),
                            [](const net::Endpoint& master) -> Result<std::string> {
                              EXPECT_EQ(master.fingerprint, "ab");
                              return base::Error{Code::kFailedPrecondition, "it has ended"};
                            });
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.error().code, Code::kFailedPrecondition);
  EXPECT_EQ(answer.error().message, "it has ended");
}

}  // namespace
}  // namespace gangrun::kubernetes::commands
