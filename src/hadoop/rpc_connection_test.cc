#include "hadoop/rpc_connection.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/test_deadline.h"
#include "hadoop/test_server.h"

namespace gangrun::hadoop {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using Kind = RpcError::Kind;
using State = SaslMessage::State;

RpcConnection simple(const TestServer& server) {
  return RpcConnection("127.0.0.1", server.port(), "Protocol", Login{.user = "alice"});
}

TEST(RpcConnection, ASecondCallGoesOverTheSameConnection) {
  TestServer server([](TestPeer& peer) {
    EXPECT_EQ(peer.take(7), encode_preamble(false));
    EXPECT_THAT(peer.take_frame(), HasSubstr("alice"));
    EXPECT_THAT(peer.take_frame(), HasSubstr("first"));
    peer.give(success_frame(0, "one"));
    EXPECT_THAT(peer.take_frame(), HasSubstr("second"));
    peer.give(success_frame(1, "two"));
  });
  RpcConnection connection = simple(server);
  EXPECT_FALSE(connection.connected());
  EXPECT_EQ(connection.call("first", "", base::soon()).body, "one");
  EXPECT_TRUE(connection.connected());
  EXPECT_EQ(connection.call("second", "", base::soon()).body, "two");
  EXPECT_EQ(server.connections(), 1);
}

TEST(RpcConnection, AnotherCallsAnswerIsNotTaken) {
  TestServer server([](TestPeer& peer) {
    (void)peer.take(7);
    (void)peer.take_frame();
    (void)peer.take_frame();
    peer.give(success_frame(27, "late") + success_frame(0, "mine"));
  });
  EXPECT_EQ(simple(server).call("m", "", base::soon()).body, "mine");
}

TEST(RpcConnection, AnErrorOfACallLeavesTheConnection) {
  TestServer server([](TestPeer& peer) {
    (void)peer.take(7);
    (void)peer.take_frame();
    (void)peer.take_frame();
    peer.give(error_frame(0, RpcResponse::Status::kError, "a.YarnException", "no\n\tat b"));
    (void)peer.take_frame();
    peer.give(success_frame(1, ""));
  });
  RpcConnection connection = simple(server);
  const RpcOutcome failed = connection.call("m", "", base::soon());
  ASSERT_TRUE(failed.error.has_value());
  EXPECT_EQ(failed.error->kind, Kind::kRemote);
  EXPECT_EQ(failed.error->message, "no");
  EXPECT_TRUE(connection.connected());
  EXPECT_FALSE(connection.call("m", "", base::soon()).error.has_value());
}

TEST(RpcConnection, ARefusalIsReadAlthoughTheServerClosesAtOnce) {
  TestServer server([](TestPeer& peer) {
    peer.give(error_frame(-1, RpcResponse::Status::kFatal,
                          "org.apache.hadoop.security.AccessControlException",
                          "SIMPLE authentication is not enabled.  Available:[TOKEN]"));
    (void)peer.take(7);
  });
  RpcConnection connection = simple(server);
  const RpcOutcome refused = connection.call("m", "", base::soon());
  ASSERT_TRUE(refused.error.has_value());
  EXPECT_EQ(refused.error->kind, Kind::kAuthentication);
  EXPECT_THAT(refused.error->message, HasSubstr("Available:[TOKEN]"));
  EXPECT_FALSE(connection.connected());
}

TEST(RpcConnection, WhatBreaksOrIsSilentOrNoRpcIsToldApart) {
  TestServer closing([](TestPeer& peer) { (void)peer.take(7); });
  EXPECT_EQ(simple(closing).call("m", "", base::soon()).error->kind, Kind::kUnreachable);
  TestServer silent([](TestPeer& peer) { (void)peer.take(100'000); });
  EXPECT_EQ(simple(silent).call("m", "", base::soon(20ms)).error->kind, Kind::kTimedOut);
  TestServer http([](TestPeer& peer) {
    peer.give("HTTP/1.1 404 Not Found\r\n");
    (void)peer.take(100'000);
  });
  EXPECT_EQ(simple(http).call("m", "", base::soon()).error->kind, Kind::kGarbled);
}

TEST(RpcConnection, AfterABrokenConnectionTheNextCallMakesANewOne) {
  TestServer server([](TestPeer& peer) {
    (void)peer.take(7);
    (void)peer.take_frame();
    (void)peer.take_frame();
    peer.give(success_frame(0, "a") + success_frame(1, "b") + success_frame(2, "c"));
  });
  RpcConnection connection = simple(server);
  EXPECT_EQ(connection.call("m", "", base::soon()).body, "a");
  connection.close();
  EXPECT_EQ(connection.call("m", "", base::soon()).body, "b");
  EXPECT_EQ(server.connections(), 2);
}

// Shifts every byte, and takes few at once, so that each message is cut.
class ShiftingMechanism final : public sasl::Mechanism {
 public:
  base::Result<std::string> respond(std::string_view) override { return std::string("answer"); }
  [[nodiscard]] bool has_answered() const override { return true; }
  base::Result<> finish(std::string_view token) override {
    if (token != "proof") return base::internal("no proof");
    return {};
  }
  [[nodiscard]] sasl::Protection protection() const override { return sasl::Protection::kPrivacy; }
  [[nodiscard]] std::size_t max_piece_bytes() const override { return 7; }
  base::Result<std::string> wrap(std::string_view piece) override { return shifted(piece, 1); }
  base::Result<std::string> unwrap(std::string_view token) override { return shifted(token, -1); }

 private:
  static std::string shifted(std::string_view bytes, int by) {
    std::string result(bytes);
    for (char& byte : result) byte = static_cast<char>(byte + by);
    return result;
  }
};

Login guarded_login() {
  Login login;
  login.methods["TOKEN"] = [](const SaslOffer&, const std::string&) {
    return base::Result<std::unique_ptr<sasl::Mechanism>>(std::make_unique<ShiftingMechanism>());
  };
  return login;
}

// Takes a client's SASL frame.
SaslMessage take_sasl(TestPeer& peer) {
  const std::string frame = peer.take_frame();
  const std::size_t begin = 1 + static_cast<unsigned char>(frame[0]);
  // The length of the message is one byte where it is short.
  const auto message = parse_sasl(std::string_view(frame).substr(begin + 1));
  EXPECT_TRUE(message.ok());
  return message.ok() ? *message : SaslMessage{};
}

TEST(RpcConnection, AfterAGuardedLoginAllGoesThroughTheGuard) {
  TestServer server([](TestPeer& peer) {
    EXPECT_EQ(peer.take(7), encode_preamble(true));
    EXPECT_EQ(take_sasl(peer).state, State::kNegotiate);
    peer.give(sasl_frame(
        {.state = State::kNegotiate, .offers = {{.method = "TOKEN", .mechanism = "DIGEST-MD5"}}}));
    EXPECT_EQ(take_sasl(peer).token, "answer");
    peer.give(sasl_frame({.state = State::kSuccess, .token = "proof"}));
    ShiftingMechanism guard;
    net::FrameReader reader(kMaxFrameBytes);
    std::string frames;
    for (int taken = 0; taken < 2;) {  // the context and the call
      reader.feed(*guard.unwrap(*take_sasl(peer).token));
      if (const auto frame = reader.next(); frame.ok() && *frame) {
        frames += **frame;
        ++taken;
      }
    }
    EXPECT_THAT(frames, HasSubstr("someMethod"));
    EXPECT_THAT(frames, testing::Not(HasSubstr("alice")));
    const std::string answer = success_frame(0, "body");
    for (std::size_t i = 0; i < answer.size(); i += 5) {
      peer.give(sasl_frame({.state = State::kWrap, .token = *guard.wrap(answer.substr(i, 5))}));
    }
    (void)peer.take(1);
  });
  RpcConnection connection("127.0.0.1", server.port(), "Protocol", guarded_login());
  const RpcOutcome outcome = connection.call("someMethod", "", base::soon());
  EXPECT_FALSE(outcome.error.has_value()) << outcome.error->message;
  EXPECT_EQ(outcome.body, "body");
}

TEST(RpcConnection, AnswersWithoutTheirGuardAreNotTaken) {
  TestServer server([](TestPeer& peer) {
    (void)peer.take(7);
    (void)take_sasl(peer);
    peer.give(sasl_frame(
        {.state = State::kNegotiate, .offers = {{.method = "TOKEN", .mechanism = "DIGEST-MD5"}}}));
    (void)take_sasl(peer);
    peer.give(sasl_frame({.state = State::kSuccess, .token = "proof"}) +
              success_frame(0, "forged"));
    (void)peer.take(100'000);
  });
  RpcConnection connection("127.0.0.1", server.port(), "Protocol", guarded_login());
  const RpcOutcome outcome = connection.call("m", "", base::soon());
  ASSERT_TRUE(outcome.error.has_value());
  EXPECT_EQ(outcome.error->kind, Kind::kGarbled);
}

TEST(RpcConnection, AWrongTokenIsToldAsTheServerSaysIt) {
  TestServer server([](TestPeer& peer) {
    (void)peer.take(7);
    (void)take_sasl(peer);
    peer.give(sasl_frame(
        {.state = State::kNegotiate, .offers = {{.method = "TOKEN", .mechanism = "DIGEST-MD5"}}}));
    (void)take_sasl(peer);
    peer.give(error_frame(kSaslCallId, RpcResponse::Status::kFatal,
                          "org.apache.hadoop.security.token.SecretManager$InvalidToken",
                          "appattempt_1_0001_000001 not found in AMRMTokenSecretManager."));
  });
  RpcConnection connection("127.0.0.1", server.port(), "Protocol", guarded_login());
  const RpcOutcome outcome = connection.call("m", "", base::soon());
  ASSERT_TRUE(outcome.error.has_value());
  EXPECT_EQ(outcome.error->kind, Kind::kAuthentication);
  EXPECT_EQ(simple_class_name(outcome.error->exception_class), "InvalidToken");
}

}  // namespace
}  // namespace gangrun::hadoop
