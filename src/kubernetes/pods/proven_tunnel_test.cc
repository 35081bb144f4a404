#include "kubernetes/pods/proven_tunnel.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>

#include "base/test_deadline.h"
#include "kubernetes/pods/test_proven_pods_internal.h"

namespace gangrun::kubernetes::pods {
namespace {

using testing::ElementsAre;

const base::Secret kToken(std::string(64, 'a'));

class ProvenTunnelTest : public testing::Test {
 protected:
  void start(base::Duration limit = base::seconds(20)) {
    tunnel = std::make_unique<ProvenTunnel>(
        loop, client, ProvenTunnel::Target{"ns", "board", 4001},
        Proof(kToken, kRelayGreeting, Proof::Side::kClient), loop.now() + limit,
        ProvenTunnel::Callbacks{
            .on_proven = [this] { is_proven = true; },
            .on_frame = [this](const LinkFrame& frame) { frames.push_back(to_bytes(frame)); },
            .on_over =
                [this](const base::Error& error) {
                  end = error;
                  tunnel.reset();
                }});
  }
  bool ends() {
    return loop.run_until([this] { return end.has_value(); }, base::soon());
  }

  net::EventLoop loop;
  ForwardingClient client;
  bool is_proven = false;
  std::vector<std::string> frames;
  std::optional<base::Error> end;
  std::unique_ptr<ProvenTunnel> tunnel;
};

TEST_F(ProvenTunnelTest, FramesFollowTheProof) {
  start();
  EXPECT_THAT(client.asked, ElementsAre("ns/board:4001"));
  TestPod& pod = client.pods[0];
  prove(pod, kToken, kRelayGreeting);
  EXPECT_TRUE(is_proven);
  pod.say(to_bytes(HereFrame{"10.0.0.7:4000"}) + to_bytes(AnswerFrame{}));
  EXPECT_THAT(frames, ElementsAre(to_bytes(HereFrame{"10.0.0.7:4000"}), to_bytes(AnswerFrame{})));
  tunnel->send(PingFrame{});
  EXPECT_THAT(taken_frames(pod), ElementsAre(to_bytes(PingFrame{})));
  pod.end({});
  ASSERT_TRUE(ends());
  EXPECT_EQ(end->code, base::Code::kUnavailable);
  EXPECT_EQ(end->message, "pod board has closed the stream");
  EXPECT_TRUE(pod.is_closed);
}

TEST_F(ProvenTunnelTest, WhoDoesNotKnowTheSecretIsLeft) {
  start();
  TestPod& pod = client.pods[0];
  pod.open();
  pod.say(Proof(base::Secret("another"), kRelayGreeting, Proof::Side::kPod).begin());
  pod.say(std::string(32, 'x'));
  ASSERT_TRUE(ends());
  EXPECT_EQ(end->code, base::Code::kUnauthenticated);
  EXPECT_FALSE(is_proven);
}

TEST_F(ProvenTunnelTest, SaysThatNobodyListens) {
  start();
  client.pods[0].open();
  client.pods[0].end(base::unavailable("dial tcp4 127.0.0.1:4001: connect: connection refused"));
  ASSERT_TRUE(ends());
  EXPECT_EQ(end->message, "nothing listens at port 4001 of pod board");
}

TEST_F(ProvenTunnelTest, AProofHasALimit) {
  start(std::chrono::milliseconds(20));
  client.pods[0].open();
  ASSERT_TRUE(ends());
  EXPECT_EQ(end->code, base::Code::kDeadlineExceeded);
}

TEST_F(ProvenTunnelTest, WhatIsNoFrameEndsIt) {
  start();
  prove(client.pods[0], kToken, kRelayGreeting);
  client.pods[0].say(std::string("\0\0\0\1?", 5));
  // Nothing is sent any more.
  tunnel->send(PingFrame{});
  EXPECT_EQ(client.pods[0].sent, "");
  ASSERT_TRUE(ends());
  EXPECT_EQ(end->code, base::Code::kDataLoss);
}

}  // namespace
}  // namespace gangrun::kubernetes::pods
