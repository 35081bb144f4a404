#include "kubernetes/pods/agent_hints.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/test_deadline.h"
#include "base/test_log.h"
#include "kubernetes/pods/test_proven_pods_internal.h"

namespace gangrun::kubernetes::pods {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const base::Secret kSecret(std::string(64, 's'));
const job::Address kRelay{"10.0.0.7", 4000};
const std::vector<std::uint16_t> kPorts = {4002};
const base::Error kRefused = base::unavailable("connect: connection refused");

class AgentHintsTest : public testing::Test {
 protected:
  bool until(const std::function<bool()>& done) { return loop.run_until(done, base::soon()); }
  bool are_asked(std::size_t count) {
    return until([&] { return client.asked.size() >= count; });
  }
  // The part of an agent, in the stream of that number.
  void take_hint(std::size_t stream) {
    TestPod& pod = client.pods[stream];
    prove(pod, kSecret, kAgentGreeting);
    EXPECT_THAT(taken_frames(pod), ElementsAre(to_bytes(HintFrame{2, "10.0.0.7:4000"})));
    pod.say(to_bytes(AnswerFrame{}));
  }
  void refuse(std::size_t stream) {
    client.pods[stream].open();
    client.pods[stream].end(kRefused);
  }

  net::EventLoop loop;
  base::LogRecorder log;
  ForwardingClient client;
  AgentHints hints{loop, client, log, {.name_space = "ns", .secret = kSecret, .attempt = 2}};
};

TEST_F(AgentHintsTest, AnAgentIsTriedUntilItListensAndToldUntilItIsThere) {
  hints.set_address(kRelay);
  hints.tell("worker-0", kPorts, base::soon());
  ASSERT_TRUE(are_asked(1));
  refuse(0);
  ASSERT_TRUE(are_asked(2));
  take_hint(1);
  ASSERT_TRUE(until([&] { return client.pods[1].is_closed; }));
  // It is told again.
  ASSERT_TRUE(are_asked(3));
  take_hint(2);
  hints.forget("worker-0");
  EXPECT_EQ(hints.waiting(), 0U);
  EXPECT_TRUE(client.pods[2].is_closed);
  EXPECT_THAT(client.asked, testing::Each("ns/worker-0:4002"));
  EXPECT_THAT(log.lines, ElementsAre());
}

// On its node's network the first may be somebody else's: even another agent's of the job.
TEST_F(AgentHintsTest, OneOfSomePortsAfterTheOtherIsTried) {
  hints.set_address(kRelay);
  hints.tell("worker-0", {4002, 4003, 4004}, base::soon());
  ASSERT_TRUE(are_asked(1));
  refuse(0);
  ASSERT_TRUE(are_asked(2));
  take_hint(1);
  ASSERT_TRUE(are_asked(3));
  refuse(2);
  ASSERT_TRUE(are_asked(4));
  EXPECT_THAT(client.asked, ElementsAre("ns/worker-0:4002", "ns/worker-0:4003", "ns/worker-0:4004",
                                        "ns/worker-0:4002"));
  hints.forget("worker-0");
  EXPECT_THAT(log.lines, ElementsAre());
}

TEST_F(AgentHintsTest, NobodyIsToldBeforeThereIsAnAddress) {
  hints.tell("worker-0", kPorts, base::soon());
  bool has_run = false;
  loop.post([&] { has_run = true; });
  ASSERT_TRUE(until([&] { return has_run; }));
  EXPECT_TRUE(client.asked.empty());
  hints.set_address(kRelay);
  EXPECT_TRUE(are_asked(1));
}

TEST_F(AgentHintsTest, ThoseWhoKnowAnotherAddressAreToldTheNewOne) {
  hints.set_address({"10.0.0.6", 4000});
  hints.tell("worker-0", kPorts, base::soon());
  hints.tell("worker-1", kPorts, base::soon());
  ASSERT_TRUE(are_asked(2));
  prove(client.pods[0], kSecret, kAgentGreeting);
  EXPECT_THAT(taken_frames(client.pods[0]), ElementsAre(to_bytes(HintFrame{2, "10.0.0.6:4000"})));
  hints.set_address(kRelay);
  EXPECT_TRUE(client.pods[0].is_closed);
  EXPECT_TRUE(client.pods[1].is_closed);
  ASSERT_TRUE(are_asked(4));
  take_hint(2);
  take_hint(3);
  // The same one again is no news.
  hints.set_address(kRelay);
  EXPECT_EQ(client.asked.size(), 4U);
}

TEST_F(AgentHintsTest, NotAllAreToldAtOnce) {
  hints.set_address(kRelay);
  for (std::size_t i = 0; i < 2 * kMaxHintsAtOnce; ++i) {
    hints.tell("worker-" + std::to_string(i), kPorts, base::soon());
  }
  ASSERT_TRUE(are_asked(kMaxHintsAtOnce));
  bool has_run = false;
  loop.post([&] { has_run = true; });
  ASSERT_TRUE(until([&] { return has_run; }));
  EXPECT_EQ(client.asked.size(), kMaxHintsAtOnce);
  refuse(0);
  EXPECT_TRUE(are_asked(kMaxHintsAtOnce + 1));
  // The name is in the front, as in "ns/worker-3:4002".
  const std::string name = client.asked[1].substr(3, client.asked[1].find(':') - 3);
  hints.forget(name);
  EXPECT_TRUE(are_asked(kMaxHintsAtOnce + 2));
}

TEST_F(AgentHintsTest, TheLimitIsTheEnd) {
  hints.set_address(kRelay);
  hints.tell("worker-0", kPorts, loop.now());
  ASSERT_TRUE(are_asked(1));
  refuse(0);
  ASSERT_TRUE(until([&] { return hints.waiting() == 0; }));
  EXPECT_THAT(log.lines, ElementsAre("the agent in pod worker-0 did not come: nothing listens at "
                                     "port 4002 of pod worker-0"));
  hints.tell("worker-1", kPorts, loop.now());
  ASSERT_TRUE(are_asked(2));
  take_hint(1);
  ASSERT_TRUE(until([&] { return hints.waiting() == 0; }));
  EXPECT_THAT(log.lines.back(), HasSubstr("worker-1 did not come: it was told"));
}

TEST_F(AgentHintsTest, AMissingRightIsNotTriedAgain) {
  hints.set_address(kRelay);
  hints.tell("worker-0", kPorts, base::soon());
  ASSERT_TRUE(are_asked(1));
  client.pods[0].end(base::Error{base::Code::kPermissionDenied, "no right"});
  EXPECT_TRUE(until([&] { return hints.waiting() == 0; }));
}

// Another container of the pod may have taken the port.
TEST_F(AgentHintsTest, WhatDoesNotKnowTheSecretIsToldNothing) {
  hints.set_address(kRelay);
  hints.tell("worker-0", kPorts, base::soon());
  ASSERT_TRUE(are_asked(1));
  TestPod& pod = client.pods[0];
  pod.open();
  pod.say(Proof(base::Secret("another"), kAgentGreeting, Proof::Side::kPod).begin());
  pod.say(std::string(32, 'x'));
  ASSERT_TRUE(until([&] { return pod.is_closed; }));
  // A challenge and the answer to one.
  EXPECT_EQ(pod.sent.size(), 64U);
}

}  // namespace
}  // namespace gangrun::kubernetes::pods
