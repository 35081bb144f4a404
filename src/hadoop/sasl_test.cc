#include "hadoop/sasl.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "net/digests.h"

namespace gangrun::hadoop {
namespace {

using testing::HasSubstr;

TEST(Sasl, ATokenIsUserAndPasswordOfADigest) {
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

TEST(Sasl, AnotherMechanismForTokensIsNamed) {
  const auto started = start_digest_md5(
      {},
      {.method = "TOKEN", .mechanism = "SCRAM-SHA-256", .protocol = "", .server_id = "default"});
  EXPECT_THAT(started.error().message, HasSubstr("SCRAM-SHA-256"));
}

}  // namespace
}  // namespace gangrun::hadoop
