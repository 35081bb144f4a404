#include "zookeeper/login.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gangrun::zookeeper {
namespace {

using testing::HasSubstr;

base::Result<std::string> respond(Login& login, const std::string& challenge) {
  base::Result<std::string> told("");
  login.respond(challenge, [&told](base::Result<std::string> token) { told = std::move(token); });
  return told;
}

TEST(DigestLogin, TheServerSpeaksFirstAndHasTheLastWord) {
  const auto login = digest_login("ann", base::Secret("secret"))("zk1");
  EXPECT_EQ(respond(*login, "").value(), "");
  EXPECT_FALSE(login->has_answered());
  const auto response =
      respond(*login, "realm=\"zk-sasl-md5\",nonce=\"n\",charset=utf-8,algorithm=md5-sess");
  ASSERT_TRUE(response.ok());
  EXPECT_THAT(*response, HasSubstr("username=\"ann\",realm=\"zk-sasl-md5\""));
  EXPECT_THAT(*response, HasSubstr("digest-uri=\"zookeeper/zk-sasl-md5\""));
  EXPECT_TRUE(login->has_answered());
  EXPECT_THAT(login->finish("rspauth=x").error().message, HasSubstr("the login as ann"));
}

TEST(DigestLogin, WhatIsNoChallengeIsAnError) {
  const auto login = digest_login("ann", base::Secret("secret"))("zk1");
  (void)respond(*login, "");
  EXPECT_FALSE(respond(*login, "x").ok());
}

}  // namespace
}  // namespace gangrun::zookeeper
