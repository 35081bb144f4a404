#include "hadoop/server_principal.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hadoop/configuration.h"

namespace gangrun::hadoop {
namespace {

using base::Code;
using testing::HasSubstr;

constexpr const char* kKey = "yarn.resourcemanager.principal";

SaslOffer offer(const std::string& service, const std::string& host) {
  return {.method = "KERBEROS", .mechanism = "GSSAPI", .protocol = service, .server_id = host};
}

std::vector<std::string> server_addresses(const std::string& host) {
  if (host == "rm1.example" || host == "rm1" || host == "10.0.0.1") return {"10.0.0.1"};
  if (host == "evil.example") return {"10.6.6.6"};
  return {};
}

base::Result<sasl::Principal> of(const std::string& expected, const SaslOffer& said,
                                 const std::string& host, const std::string& pattern = "") {
  Configuration configuration;
  if (!expected.empty()) configuration.set(kKey, expected);
  if (!pattern.empty()) configuration.set(std::string(kKey) + ".pattern", pattern);
  return server_principal(configuration, kKey, said, host, server_addresses);
}

std::string text(const base::Result<sasl::Principal>& principal) {
  return principal.ok() ? to_string(*principal) : principal.error().message;
}

TEST(ServerPrincipal, IsTheConfiguredOneOnTheHostThatWasCalled) {
  EXPECT_EQ(text(of("rm/_HOST@R", offer("rm", "rm1.example"), "rm1.example")), "rm/rm1.example@R");
  EXPECT_EQ(text(of("rm/_HOST@R", offer("rm", "rm1.example"), "RM1.Example")), "rm/rm1.example@R");
  EXPECT_EQ(text(of("rm/fixed@R", offer("rm", "fixed"), "10.0.0.1")), "rm/fixed@R");
  EXPECT_EQ(text(of("rm/_HOST", offer("rm", "rm1"), "rm1")), "rm/rm1");
}

TEST(ServerPrincipal, AnotherNameOfTheSameHostIsFine) {
  EXPECT_EQ(text(of("rm/_HOST@R", offer("rm", "rm1.example"), "rm1")), "rm/rm1.example@R");
  EXPECT_EQ(text(of("rm/_HOST@R", offer("rm", "rm1.example"), "10.0.0.1")), "rm/rm1.example@R");
}

TEST(ServerPrincipal, AnybodyElseOfTheRealmIsRefused) {
  for (const SaslOffer& said :
       {offer("rm", "evil.example"), offer("nm", "rm1.example"), offer("rm", "nobody")}) {
    const auto principal = of("rm/_HOST@R", said, "rm1.example");
    ASSERT_FALSE(principal.ok());
    EXPECT_EQ(principal.error().code, Code::kUnauthenticated);
    EXPECT_THAT(principal.error().message, HasSubstr("yarn.resourcemanager.principal"));
  }
  EXPECT_FALSE(of("rm/fixed@R", offer("rm", "rm1.example"), "rm1.example").ok());
  EXPECT_FALSE(of("rm@R", offer("rm", "rm1.example"), "rm1.example").ok());
  EXPECT_FALSE(of("rm/_HOST@R", {.method = "KERBEROS", .mechanism = "GSSAPI"}, "rm1").ok());
}

TEST(ServerPrincipal, APatternAllowsOthers) {
  EXPECT_EQ(text(of("", offer("rm", "x.example"), "rm1", "rm/*@R")), "rm/x.example@R");
  EXPECT_EQ(text(of("rm/_HOST@R", offer("yarn", "x"), "rm1", "*")), "yarn/x");
  EXPECT_EQ(text(of("rm/_HOST@R", offer("yarn", "x"), "rm1", "yarn/*@*")), "yarn/x");
  EXPECT_FALSE(of("rm/_HOST@R", offer("nm", "rm1"), "rm1", "rm/*@R").ok());
}

TEST(ServerPrincipal, WithoutAnExpectationNobodyIsBelieved) {
  const auto principal = of("", offer("rm", "rm1"), "rm1");
  EXPECT_EQ(principal.error().code, Code::kFailedPrecondition);
  EXPECT_THAT(principal.error().message, HasSubstr("yarn.resourcemanager.principal is not set"));
}

}  // namespace
}  // namespace gangrun::hadoop
