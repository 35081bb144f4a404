#include "kubernetes/node/hint_door.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <list>
#include <string>
#include <vector>

#include "base/test_deadline.h"
#include "base/test_log.h"
#include "kubernetes/node/test_client_internal.h"

namespace gangrun::kubernetes::node {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

const base::Secret kSecret(std::string(64, 's'));

class HintDoorTest : public testing::Test {
 protected:
  void SetUp() override {
    const auto listening = door.listen({0});
    ASSERT_TRUE(listening.ok()) << listening.error().message;
    port = *listening;
  }
  bool until(const std::function<bool()>& done) { return loop.run_until(done, base::soon()); }
  // Whether it was taken.
  bool tell(std::uint32_t attempt, const std::string& address) {
    const TestClient client(loop, port, kSecret, kAgentGreeting);
    EXPECT_TRUE(until([&] { return client.is_proven(); }));
    client.send(HintFrame{attempt, address});
    EXPECT_TRUE(until([&] { return client.is_closed || !client.frames.empty(); }));
    return !client.frames.empty() && client.frames[0] == to_bytes(AnswerFrame{});
  }

  net::EventLoop loop;
  base::LogRecorder log;
  std::vector<std::string> hints;
  std::uint16_t port = 0;
  HintDoor door{loop, log, kSecret,
                [this](const job::Address& address) { hints.push_back(job::to_string(address)); }};
};

TEST_F(HintDoorTest, HearsWhereTheMasterIs) {
  EXPECT_TRUE(tell(1, "10.0.0.7:4000"));
  EXPECT_TRUE(tell(1, "[fd00::7]:4000"));
  EXPECT_THAT(hints, ElementsAre("10.0.0.7:4000", "[fd00::7]:4000"));
}

// On the network of a node other programs have ports, too.
TEST_F(HintDoorTest, ListensAtTheFirstPortThatIsFree) {
  HintDoor other(loop, log, kSecret, [](const job::Address&) {});
  EXPECT_FALSE(other.listen({port}).ok());
  const auto free = other.listen({port, 0});
  ASSERT_TRUE(free.ok()) << free.error().message;
  EXPECT_NE(*free, port);
  port = *free;
  EXPECT_TRUE(tell(1, "10.0.0.7:4000"));
  EXPECT_TRUE(hints.empty());
}

TEST_F(HintDoorTest, AMasterThatWasFollowedIsNotHeard) {
  EXPECT_TRUE(tell(2, "10.0.0.8:4000"));
  EXPECT_FALSE(tell(1, "10.0.0.7:4000"));
  EXPECT_THAT(hints, ElementsAre("10.0.0.8:4000"));
  EXPECT_THAT(log.lines, Contains(HasSubstr("master 1 calls, but the job's master is 2")));
}

TEST_F(HintDoorTest, WhatIsNoAddressIsNoHint) {
  EXPECT_FALSE(tell(1, "nowhere"));
  EXPECT_FALSE(tell(1, ""));
  const TestClient client(loop, port, kSecret, kAgentGreeting);
  ASSERT_TRUE(until([&] { return client.is_proven(); }));
  client.send(PingFrame{});
  EXPECT_TRUE(until([&] { return client.is_closed; }));
  EXPECT_TRUE(hints.empty());
}

TEST_F(HintDoorTest, OnlyWhoKnowsTheSecretIsHeard) {
  const TestClient stranger(loop, port, base::Secret("another"), kAgentGreeting);
  EXPECT_TRUE(until([&] { return stranger.is_closed; }));
  EXPECT_TRUE(hints.empty());
}

TEST_F(HintDoorTest, OneClientTooManyTakesThePlaceOfTheOldest) {
  std::list<TestClient> clients;
  for (std::size_t i = 0; i <= kMaxHints; ++i) {
    clients.emplace_back(loop, port, kSecret, kAgentGreeting);
    ASSERT_TRUE(until([&] { return clients.back().is_proven(); }));
  }
  EXPECT_TRUE(until([&] { return clients.front().is_closed; }));
  clients.back().send(HintFrame{1, "10.0.0.7:4000"});
  EXPECT_TRUE(until([&] { return hints.size() == 1; }));
}

}  // namespace
}  // namespace gangrun::kubernetes::node
