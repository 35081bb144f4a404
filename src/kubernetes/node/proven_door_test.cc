#include "kubernetes/node/proven_door.h"

#include <gtest/gtest.h>

#include <list>
#include <optional>

#include "base/test_deadline.h"
#include "base/test_log.h"
#include "kubernetes/node/proven_stream.h"
#include "kubernetes/node/test_client_internal.h"

namespace gangrun::kubernetes::node {
namespace {

const base::Secret kToken(std::string(64, 'a'));

class ProvenDoorTest : public testing::Test {
 protected:
  void SetUp() override {
    const auto listening = door.listen(0);
    ASSERT_TRUE(listening.ok()) << listening.error().message;
    port = *listening;
  }
  bool until(const std::function<bool()>& done) { return loop.run_until(done, base::soon()); }
  void take(std::unique_ptr<ProvenStream> stream) {
    stream->set_callbacks(
        {.on_proven = [] {},
         .on_frame = [this](const LinkFrame& frame) { frames.push_back(to_bytes(frame)); },
         .on_drained = [this] { is_drained = true; },
         .on_over = [this](const base::Error& error) { end = error; }});
    proven.push_back(std::move(stream));
  }

  net::EventLoop loop;
  base::LogRecorder log;
  std::list<std::unique_ptr<ProvenStream>> proven;
  std::vector<std::string> frames;
  bool is_drained = false;
  std::optional<base::Error> end;
  std::uint16_t port = 0;
  ProvenDoor door{loop, log, kToken, kRelayGreeting,
                  [this](std::unique_ptr<ProvenStream> stream) { take(std::move(stream)); }};
};

TEST_F(ProvenDoorTest, HandsOnWhoKnowsTheSecret) {
  const TestClient client(loop, port, kToken, kRelayGreeting);
  ASSERT_TRUE(until([&] { return client.is_proven() && proven.size() == 1; }));
  client.send(PingFrame{});
  ASSERT_TRUE(until([&] { return frames.size() == 1; }));
  EXPECT_EQ(frames[0], to_bytes(PingFrame{}));
  proven.front()->send(AnswerFrame{});
  ASSERT_TRUE(until([&] { return client.frames.size() == 1; }));
  EXPECT_EQ(client.frames[0], to_bytes(AnswerFrame{}));
}

TEST_F(ProvenDoorTest, WhoDoesNotIsClosedAndTold) {
  const TestClient stranger(loop, port, base::Secret("another"), kRelayGreeting);
  ASSERT_TRUE(until([&] { return stranger.is_closed; }));
  EXPECT_TRUE(proven.empty());
  EXPECT_EQ(log.lines, std::vector<std::string>{"who has connected does not know the secret"});
}

// Somebody who may only forward ports could keep the client out.
TEST_F(ProvenDoorTest, ThoseWhoProveNothingGiveWay) {
  std::list<TestClient> strangers;
  for (std::size_t i = 0; i < kMaxUnproven; ++i) {
    // It never answers: its greeting is another one.
    strangers.emplace_back(loop, port, kToken, kAgentGreeting);
  }
  const TestClient client(loop, port, kToken, kRelayGreeting);
  ASSERT_TRUE(until([&] { return proven.size() == 1 && client.is_proven(); }));
  char byte = 0;
  EXPECT_TRUE(until([&] {
    ssize_t last = 1;
    while (last > 0) last = ::recv(strangers.front().socket.get(), &byte, 1, MSG_DONTWAIT);
    return last == 0;
  }));
}

TEST_F(ProvenDoorTest, AStreamTellsItsEnd) {
  {
    const TestClient client(loop, port, kToken, kRelayGreeting);
    ASSERT_TRUE(until([&] { return proven.size() == 1 && client.is_proven(); }));
  }
  ASSERT_TRUE(until([&] { return end.has_value(); }));
  EXPECT_EQ(end->code, base::Code::kUnavailable);
}

TEST_F(ProvenDoorTest, WhatWaitsHasALimit) {
  const TestClient client(loop, port, kToken, kRelayGreeting);
  ASSERT_TRUE(until([&] { return proven.size() == 1 && client.is_proven(); }));
  const std::string much(std::size_t{32} << 10U, 'x');
  ProvenStream& stream = *proven.front();
  // Nothing is read meanwhile, as the loop does not run.
  while (stream.waiting_bytes() < (std::size_t{1} << 20U)) stream.send(net::StreamFrame{1, much});
  ASSERT_TRUE(until([&] { return is_drained; }));
  EXPECT_EQ(stream.waiting_bytes(), 0U);
  // It ends the stream, and does not grow.
  for (int i = 0; i < 2048; ++i) stream.send(net::StreamFrame{1, much});
  EXPECT_LT(stream.waiting_bytes(), kMaxWaitingBytes + 2 * much.size());
  ASSERT_TRUE(until([&] { return end.has_value(); }));
  EXPECT_EQ(end->code, base::Code::kResourceExhausted);
}

}  // namespace
}  // namespace gangrun::kubernetes::node
