#include "mirror/login_errand.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gangrun::mirror {
namespace {

using namespace std::string_literals;

TEST(LoginErrand, LinesAreReadAsTheyWereWritten) {
  const LoginErrand errand{.server = "zookeeper/zk1@R",
                           .principal = "alice@R",
                           .keytab = "gangrun-keytab",
                           .krb5_config = "/etc/krb5.conf"};
  EXPECT_EQ(login_errand_from(to_line(errand)).value(), errand);
  const std::string token = "\0\n\xff"s;
  EXPECT_EQ(challenge_from(challenge_line(token)).value(), token);
  const LoginAnswer answer{.token = token, .is_last = true};
  EXPECT_EQ(login_answer_from(to_line(base::Result<LoginAnswer>(answer))).value(), answer);
  for (const std::string& line :
       {to_line(errand), challenge_line(token), to_line(base::Result<LoginAnswer>(answer))}) {
    EXPECT_EQ(line.find('\n'), line.size() - 1);
  }
}

TEST(LoginErrand, AnErrorIsToldAsItWas) {
  const base::Result<LoginAnswer> failed = base::unavailable("the ticket\nhas expired");
  EXPECT_EQ(login_answer_from(to_line(failed)).error().message, "the ticket\nhas expired");
}

TEST(LoginErrand, WhatIsNoLineOfItIsAnError) {
  for (const char* line : {"", "x", "{}", R"({"token":"?","is_last":true})", R"({"token":""})",
                           R"({"challenge":"?"})", R"({"server":"x"})"}) {
    EXPECT_FALSE(login_errand_from(line).ok()) << line;
    EXPECT_FALSE(challenge_from(line).ok()) << line;
    EXPECT_FALSE(login_answer_from(line).ok()) << line;
  }
}

}  // namespace
}  // namespace gangrun::mirror
