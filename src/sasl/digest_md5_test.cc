#include "sasl/digest_md5.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "base/format.h"
#include "base/hex.h"
#include "net/digests.h"

// The expected values were computed by a few lines of Python (hashlib, hmac and a cipher of its
// own), but for those of RFC 2831.
namespace gangrun::sasl {
namespace {

using testing::HasSubstr;

DigestMd5 client() {
  std::string identifier(40, '\0');
  std::iota(identifier.begin(), identifier.end(), '\0');
  return DigestMd5({.user = net::to_base64(identifier),
                    .password = base::Secret(net::to_base64(std::string(20, 'p'))),
                    .digest_uri = "/default",
                    .client_nonce = "Q25vbmNl"});
}

std::string challenge(std::string_view qop) {
  return base::format(
      "realm=\"default\",nonce=\"Tm9uY2U=\",qop=\"{}\",charset=utf-8,algorithm=md5-sess,"
      "cipher=\"3des,rc4,des\"",
      qop);
}

std::string bytes_of(std::string_view hex) {
  std::string bytes;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2) {
    bytes += static_cast<char>(std::stoi(std::string(hex.substr(i, 2)), nullptr, 16));
  }
  return bytes;
}

TEST(DigestMd5, AnswersTheExampleOfItsSpecification) {  // RFC 2831, 4
  DigestMd5 example({.user = "chris",
                     .password = base::Secret("secret"),
                     .digest_uri = "imap/elwood.innosoft.com",
                     .client_nonce = "OA6MHXh6VqTrRk"});
  const auto response = example.respond(
      "realm=\"elwood.innosoft.com\",nonce=\"OA6MG9tEQGm2hh\",qop=\"auth\","
      "algorithm=md5-sess,charset=utf-8");
  ASSERT_TRUE(response.ok()) << response.error().message;
  EXPECT_THAT(*response, HasSubstr("response=d388dad90d4bbd760a152321f2143af7,qop=auth"));
  EXPECT_THAT(*response, HasSubstr("username=\"chris\",realm=\"elwood.innosoft.com\","));
  EXPECT_TRUE(example.finish("rspauth=ea40f60335c427b5527b84dbabcdfffd").ok());
  EXPECT_EQ(example.protection(), Protection::kAuthentication);
}

struct Level {
  const char* qop;
  Protection protection;
  const char* response;
  const char* server_proof;
  std::vector<const char*> sent;      // "first", "second piece"
  std::vector<const char*> received;  // likewise
};

class DigestMd5Levels : public testing::TestWithParam<Level> {};

TEST_P(DigestMd5Levels, ProveGuardAndCheck) {
  const Level& level = GetParam();
  DigestMd5 mechanism = client();
  const auto response = mechanism.respond(challenge(level.qop));
  ASSERT_TRUE(response.ok()) << response.error().message;
  EXPECT_THAT(*response, HasSubstr(base::format("response={},qop={}", level.response, level.qop)));
  EXPECT_EQ(response->ends_with(",cipher=\"rc4\""), level.protection == Protection::kPrivacy);
  ASSERT_TRUE(mechanism.finish(base::format("rspauth={}", level.server_proof)).ok());
  EXPECT_EQ(mechanism.protection(), level.protection);
  const std::vector<std::string> pieces{"first", "second piece"};
  for (std::size_t i = 0; i < level.sent.size(); ++i) {
    const auto sent = mechanism.wrap(pieces[i]);
    ASSERT_TRUE(sent.ok());
    EXPECT_EQ(base::to_hex(*sent), level.sent[i]);
    const auto received = mechanism.unwrap(bytes_of(level.received[i]));
    ASSERT_TRUE(received.ok()) << received.error().message;
    EXPECT_EQ(*received, pieces[i]);
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, DigestMd5Levels,
    testing::Values(Level{"auth",
                          Protection::kAuthentication,
                          "2854d77e6c1307835dbcf9626c672e5f",
                          "fef62f711410eee7aab360dbd16d9f8a",
                          {},
                          {}},
                    Level{"auth-int",
                          Protection::kIntegrity,
                          "4a417a0ba5ad899ac1764ea71543fe42",
                          "fffe8662d6f67718e58594d12702df50",
                          {"66697273746b18390a889c84ccc55b000100000000",
                           "7365636f6e642070696563659722aa88a91b879d696b000100000001"},
                          {"6669727374e50f22737fe99626e683000100000000",
                           "7365636f6e642070696563650ffd1f7f7d71558e153b000100000001"}},
                    Level{"auth-conf",
                          Protection::kPrivacy,
                          "c052e74e2814d1e688bf7152c302d72f",
                          "d9bb7aa4fc23492e71d93196361048d5",
                          {"b7ed21c606e4425d73f0cbd043bd60000100000000",
                           "04486ef07f969516b19eac0a981a0364172ce83ccbd3000100000001"},
                          {"57cc660f566d56ae8deac69e089d8a000100000000",
                           "c54a4acb9087893b64452a1ec690d9f9f09fac091607000100000001"}}));

TEST(DigestMd5, TheFirstKnownLevelOfSeveralIsTaken) {
  DigestMd5 first = client();
  ASSERT_TRUE(first.respond(challenge("auth-new, auth-int,auth")).ok());
  EXPECT_EQ(first.protection(), Protection::kIntegrity);
  DigestMd5 other = client();
  const auto response = other.respond(
      "realm=\"default\",nonce=\"n\",qop=\"auth-conf\",algorithm=md5-sess,cipher=\"3des\"");
  EXPECT_THAT(response.error().message, HasSubstr("\"auth-conf\" with cipher \"3des\""));
}

TEST(DigestMd5, AServerThatDoesNotKnowThePasswordIsNotBelieved) {
  DigestMd5 mechanism = client();
  ASSERT_TRUE(mechanism.respond(challenge("auth")).ok());
  for (const char* token : {"", "rspauth=2854d77e6c1307835dbcf9626c672e5f", "rspauth="}) {
    const auto finished = mechanism.finish(token);
    ASSERT_FALSE(finished.ok()) << token;
    EXPECT_EQ(finished.error().code, base::Code::kUnauthenticated);
  }
  EXPECT_FALSE(client().finish("rspauth=").ok());
}

TEST(DigestMd5, AChangedGuardedPieceIsFoundWhereverItWasChanged) {
  const std::string good = bytes_of("57cc660f566d56ae8deac69e089d8a000100000000");
  const auto unwrap = [](const std::string& token) {
    DigestMd5 mechanism = client();
    EXPECT_TRUE(mechanism.respond(challenge("auth-conf")).ok());
    return mechanism.unwrap(token);
  };
  ASSERT_TRUE(unwrap(good).ok());
  for (std::size_t i = 0; i < good.size(); ++i) {
    std::string changed = good;
    changed[i] = static_cast<char>(changed[i] ^ 1);
    EXPECT_FALSE(unwrap(changed).ok()) << i;
    EXPECT_FALSE(unwrap(good.substr(0, i)).ok()) << i;
  }
}

TEST(DigestMd5, AGuardedPieceIsNotTakenTwice) {
  DigestMd5 mechanism = client();
  ASSERT_TRUE(mechanism.respond(challenge("auth-int")).ok());
  const std::string piece = bytes_of("6669727374e50f22737fe99626e683000100000000");
  EXPECT_TRUE(mechanism.unwrap(piece).ok());
  EXPECT_FALSE(mechanism.unwrap(piece).ok());
}

TEST(DigestMd5, AWrongChallengeIsRefused) {
  const auto error_of = [](std::string_view text) {
    DigestMd5 mechanism = client();
    const auto response = mechanism.respond(text);
    return response.ok() ? "no error" : response.error().message;
  };
  EXPECT_THAT(error_of(""), HasSubstr("no nonce"));
  EXPECT_THAT(error_of("nonce"), HasSubstr("a name without value"));
  EXPECT_THAT(error_of("nonce=\"a"), HasSubstr("an open quote"));
  EXPECT_THAT(error_of("nonce=\"a\\"), HasSubstr("an open quote"));
  EXPECT_THAT(error_of("nonce=a"), HasSubstr("md5-sess"));
  EXPECT_THAT(error_of("nonce=a,algorithm=md5-sess,qop=none"), HasSubstr("\"none\""));
  EXPECT_THAT(error_of(std::string(70000, ',')), HasSubstr("too long"));
  DigestMd5 mechanism = client();
  ASSERT_TRUE(mechanism.respond(challenge("auth")).ok());
  EXPECT_FALSE(mechanism.respond(challenge("auth")).ok());
}

TEST(DigestMd5, WhatTheServerTakesAtOnceIsKept) {
  DigestMd5 mechanism = client();
  ASSERT_TRUE(mechanism.respond(challenge("auth-int") + ",maxbuf=1000").ok());
  EXPECT_EQ(mechanism.max_piece_bytes(), 984U);
  DigestMd5 usual = client();
  ASSERT_TRUE(usual.respond(challenge("auth-int") + ",maxbuf=16777216").ok());
  EXPECT_EQ(usual.max_piece_bytes(), 65520U);
}

TEST(DigestMd5, DirectivesAreReadWithQuotesAndBlanks) {
  const auto directives = parse_digest_directives(" a=1 , b = \"x,\\\"y\\\\\" ,,a=2,c=\"\"");
  ASSERT_TRUE(directives.ok()) << directives.error().message;
  const std::map<std::string, std::string> expected{{"a", "1"}, {"b", "x,\"y\\"}, {"c", ""}};
  EXPECT_EQ(*directives, expected);
}

TEST(Rc4, GivesWhatItsSpecificationSays) {  // RFC 6229, 40-bit key
  Rc4 cipher(std::string_view("\x01\x02\x03\x04\x05", 5));
  EXPECT_EQ(base::to_hex(cipher.apply(std::string(8, '\0'))), "b2396305f03dc027");
  EXPECT_EQ(base::to_hex(cipher.apply(std::string(8, '\0'))), "ccc3524a0a1118a8");
}

}  // namespace
}  // namespace gangrun::sasl
