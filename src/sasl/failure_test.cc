#include "sasl/failure.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tuple>
#include <vector>

namespace gangrun::sasl {
namespace {

using base::Code;
using testing::HasSubstr;

constexpr std::uint32_t kFirst = 0x96c73a00U;

const LoginAttempt kUser{.client = "alice@R", .server = "rm/host@R"};
const LoginAttempt kFile{.client = "alice@R", .keytab = "/a b.keytab"};

TEST(KerberosFailure, EachHasItsSentenceAndItsCommand) {
  const std::vector<std::tuple<std::uint32_t, LoginAttempt, Code, std::string, std::string>> rows{
      {195, {}, Code::kUnauthenticated, "there is no Kerberos ticket: run kinit", "--keytab"},
      {141, {}, Code::kUnauthenticated, "there is no Kerberos ticket: run kinit", "--keytab"},
      {141, kFile, Code::kUnauthenticated, "the keytab /a b.keytab gives alice@R no ticket",
       "kinit -kt '/a b.keytab' alice@R"},
      {32, kUser, Code::kUnauthenticated, "the Kerberos ticket of alice@R has expired",
       "run kinit alice@R"},
      {37, kUser, Code::kUnauthenticated, "the clock of this machine", "chronyc"},
      {148, kUser, Code::kUnauthenticated, "the clock of this machine", "chronyc"},
      {6, kUser, Code::kUnauthenticated, "the KDC does not know alice@R", "klist"},
      {7, kUser, Code::kUnauthenticated, "knows no server rm/host@R", "kvno rm/host@R"},
      {24, kFile, Code::kUnauthenticated, "does not take the key of alice@R", "kinit -kt"},
      {23, kUser, Code::kUnauthenticated, "password of alice@R has expired", "kpasswd alice@R"},
      {18, kUser, Code::kUnauthenticated, "locked alice@R", "ask"},
      {41, kUser, Code::kUnauthenticated, "rm/host@R cannot read", "kvno"},
      {154, kUser, Code::kFailedPrecondition, "not set up on this machine", "KRB5_CONFIG"},
      {156, kUser, Code::kUnavailable, "no KDC answers", "kinit alice@R"},
      {194, kUser, Code::kUnauthenticated, "the ticket cache cannot be read", "klist"},
      {90, kUser, Code::kUnauthenticated, "Kerberos with rm/host@R: what the library says", ""},
  };
  for (const auto& [code, attempt, kind, sentence, command] : rows) {
    const base::Error error = to_error(
        {.major = 13U << 16U, .minor = kFirst + code, .text = "what the library says"}, attempt);
    EXPECT_EQ(error.code, kind) << code;
    EXPECT_THAT(error.message, HasSubstr(sentence)) << code;
    EXPECT_THAT(error.message, HasSubstr(command)) << code;
    EXPECT_EQ(error.message.find('\n'), std::string::npos) << code;
  }
}

TEST(KerberosFailure, ACodeOfTheLibrarysOwnIsKnownByItsWords) {
  const auto sentence = [](const std::string& text) {
    return to_error({.major = 13U << 16U, .minor = 100'001, .text = text}, kUser).message;
  };
  EXPECT_THAT(sentence("Ticket expired"), HasSubstr("has expired"));
  EXPECT_THAT(sentence("Server not found in Kerberos database"), HasSubstr("knows no server"));
  EXPECT_THAT(sentence("Cannot contact any KDC for realm 'R'"), HasSubstr("no KDC answers"));
  EXPECT_THAT(sentence("No Kerberos credentials available (default cache: FILE:/x)"),
              HasSubstr("there is no Kerberos ticket of alice@R: run kinit alice@R"));
  EXPECT_EQ(sentence("something else"), "Kerberos with rm/host@R: something else");
}

TEST(KerberosFailure, TheMajorStatusMayTellOfAnExpiredTicket) {
  const base::Error error = to_error({.major = 11U << 16U}, {});
  EXPECT_EQ(error.message, "the Kerberos ticket has expired: run kinit");
}

TEST(KerberosFailure, ALongTextIsCut) {
  EXPECT_LT(to_error({.text = std::string(5000, 'x')}, {}).message.size(), 400U);
}

}  // namespace
}  // namespace gangrun::sasl
