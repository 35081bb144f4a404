#include "hadoop/sasl_handshake.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "net/digests.h"

namespace gangrun::hadoop {
namespace {

using State = SaslMessage::State;
using testing::HasSubstr;

// Says "mine:" and the challenge, and is content with "proof".
class FakeMechanism final : public sasl::Mechanism {
 public:
  explicit FakeMechanism(sasl::Protection protection) : protection_(protection) {}
  base::Result<std::string> respond(std::string_view challenge) override {
    return "mine:" + std::string(challenge);
  }
  [[nodiscard]] bool has_answered() const override { return true; }
  base::Result<> finish(std::string_view token) override {
    if (token == "proof") return {};
    return base::Error{base::Code::kUnauthenticated, "no proof"};
  }
  [[nodiscard]] sasl::Protection protection() const override { return protection_; }
  [[nodiscard]] std::size_t max_piece_bytes() const override { return 10; }
  base::Result<std::string> wrap(std::string_view piece) override { return std::string(piece); }
  base::Result<std::string> unwrap(std::string_view token) override { return std::string(token); }

 private:
  sasl::Protection protection_;
};

Login login(sasl::Protection protection = sasl::Protection::kAuthentication) {
  Login login;
  login.methods["KERBEROS"] = [protection](const SaslOffer&, const std::string&) {
    return base::Result<std::unique_ptr<sasl::Mechanism>>(
        std::make_unique<FakeMechanism>(protection));
  };
  return login;
}

const SaslOffer kToken{.method = "TOKEN", .mechanism = "DIGEST-MD5", .challenge = "c"};
const SaslOffer kKerberos{.method = "KERBEROS", .mechanism = "GSSAPI", .protocol = "rm"};

TEST(SaslHandshake, GoesFromTheOfferToTheProof) {
  const Login who = login(sasl::Protection::kPrivacy);
  SaslHandshake handshake(who, "host");
  EXPECT_EQ(SaslHandshake::first_message().state, State::kNegotiate);
  const auto initiate =
      handshake.on_message({.state = State::kNegotiate, .offers = {kToken, kKerberos}});
  ASSERT_TRUE(initiate.ok()) << initiate.error().message;
  EXPECT_EQ(**initiate,
            (SaslMessage{.state = State::kInitiate, .token = "mine:", .offers = {kKerberos}}));
  const auto response = handshake.on_message({.state = State::kChallenge, .token = "x"});
  ASSERT_TRUE(response.ok());
  EXPECT_EQ(**response, (SaslMessage{.state = State::kResponse, .token = "mine:x"}));
  EXPECT_FALSE(handshake.done());
  const auto end = handshake.on_message({.state = State::kSuccess, .token = "proof"});
  ASSERT_TRUE(end.ok());
  EXPECT_FALSE(end->has_value());
  EXPECT_TRUE(handshake.done());
  EXPECT_NE(handshake.take_guard(), nullptr);
}

TEST(SaslHandshake, TheOfferIsRepeatedWithoutItsChallenge) {
  const Login who =
      token_login({.identifier = "i", .password = base::Secret("p"), .kind = "k", .service = ""});
  SaslHandshake handshake(who, "host");
  SaslOffer offer = kToken;
  offer.protocol = "";
  offer.server_id = "default";
  offer.challenge = "realm=\"default\",nonce=\"n\",qop=\"auth\",algorithm=md5-sess";
  const auto initiate = handshake.on_message({.state = State::kNegotiate, .offers = {offer}});
  ASSERT_TRUE(initiate.ok()) << initiate.error().message;
  offer.challenge.reset();
  EXPECT_THAT((*initiate)->offers, testing::ElementsAre(offer));
  EXPECT_THAT(*(*initiate)->token, HasSubstr("digest-uri=\"/default\""));
}

TEST(SaslHandshake, WithoutProtectionNothingIsGuarded) {
  const Login who = login();
  SaslHandshake handshake(who, "host");
  ASSERT_TRUE(handshake.on_message({.state = State::kNegotiate, .offers = {kKerberos}}).ok());
  ASSERT_TRUE(handshake.on_message({.state = State::kSuccess, .token = "proof"}).ok());
  EXPECT_EQ(handshake.take_guard(), nullptr);
}

TEST(SaslHandshake, WhatNobodyHasIsToldWithBothSides) {
  const Login who = login();
  SaslHandshake handshake(who, "host");
  const auto answer = handshake.on_message({.state = State::kNegotiate, .offers = {kToken}});
  EXPECT_EQ(answer.error().message, "it accepts TOKEN; we have KERBEROS");
  EXPECT_EQ(answer.error().code, base::Code::kUnauthenticated);
}

TEST(SaslHandshake, AServerThatProvesNothingIsNotBelieved) {
  const Login who = login();
  SaslHandshake early(who, "host");
  EXPECT_FALSE(early.on_message({.state = State::kSuccess}).ok());
  SaslHandshake handshake(who, "host");
  ASSERT_TRUE(handshake.on_message({.state = State::kNegotiate, .offers = {kKerberos}}).ok());
  EXPECT_FALSE(handshake.on_message({.state = State::kSuccess, .token = "other"}).ok());
  EXPECT_FALSE(handshake.done());
}

TEST(SaslHandshake, WhatIsOutOfItsOrderIsRefused) {
  const Login who = login();
  for (const State state :
       {State::kChallenge, State::kInitiate, State::kResponse, State::kWrap, State::kSuccess}) {
    SaslHandshake handshake(who, "host");
    EXPECT_FALSE(handshake.on_message({.state = state}).ok()) << static_cast<int>(state);
  }
  SaslHandshake twice(who, "host");
  ASSERT_TRUE(twice.on_message({.state = State::kNegotiate, .offers = {kKerberos}}).ok());
  EXPECT_FALSE(twice.on_message({.state = State::kNegotiate, .offers = {kKerberos}}).ok());
}

TEST(SaslHandshake, ALoginWithoutEndIsEnded) {
  const Login who = login();
  SaslHandshake handshake(who, "host");
  ASSERT_TRUE(handshake.on_message({.state = State::kNegotiate, .offers = {kKerberos}}).ok());
  int rounds = 0;
  while (rounds < 100 && handshake.on_message({.state = State::kChallenge, .token = "x"}).ok()) {
    ++rounds;
  }
  EXPECT_LT(rounds, 20);
}

TEST(TokenLogin, ATokenIsUserAndPasswordOfADigest) {
  const Login login =
      token_login({.identifier = "who", .password = base::Secret("secret"), .kind = "kind"});
  const auto mechanism = login.methods.at("TOKEN")(
      {.method = "TOKEN", .mechanism = "DIGEST-MD5", .protocol = "", .server_id = "default"},
      "host");
  ASSERT_TRUE(mechanism.ok());
  const auto response = (*mechanism)->respond("nonce=\"n\",qop=\"auth\",algorithm=md5-sess");
  ASSERT_TRUE(response.ok());
  EXPECT_THAT(*response, HasSubstr("username=\"" + net::to_base64("who") + "\""));
  EXPECT_THAT(*response, HasSubstr("digest-uri=\"/default\""));
}

TEST(TokenLogin, AnotherMechanismForTokensIsNamed) {
  const auto started =
      token_login({}).methods.at("TOKEN")({.method = "TOKEN", .mechanism = "SCRAM-SHA-256"}, "");
  EXPECT_THAT(started.error().message, HasSubstr("SCRAM-SHA-256"));
}

}  // namespace
}  // namespace gangrun::hadoop
