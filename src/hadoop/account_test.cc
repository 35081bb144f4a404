#include "hadoop/account.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hadoop/configuration.h"
#include "sasl/test_identity.h"

namespace gangrun::hadoop {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

constexpr const char* kPrincipalKey = "yarn.resourcemanager.principal";
const SaslOffer kOffer{
    .method = "KERBEROS", .mechanism = "GSSAPI", .protocol = "rm", .server_id = "localhost"};

TEST(Account, WhetherAClusterIsSecuredStandsInItsConfiguration) {
  Configuration configuration;
  EXPECT_FALSE(*is_secured(configuration));
  configuration.set("hadoop.security.authentication", "kerberos");
  EXPECT_TRUE(*is_secured(configuration));
  configuration.set("hadoop.security.authentication", "magic");
  EXPECT_EQ(is_secured(configuration).error().code, base::Code::kInvalidArgument);
}

TEST(Account, WithoutTicketsTheNameIsTold) {
  const Configuration configuration;
  Account account("alice");
  EXPECT_EQ(login_of(account, configuration, kPrincipalKey).user, "alice");
  EXPECT_TRUE(login_of(account, configuration, kPrincipalKey).methods.empty());
  account.real_user = "oozie";
  EXPECT_EQ(login_of(account, configuration, kPrincipalKey).real_user, "oozie");
  EXPECT_EQ(web_login_of(account), nullptr);
}

TEST(Account, WithTicketsTheServerOfTheConfigurationIsLoggedInTo) {
  Configuration configuration;
  configuration.set(kPrincipalKey, "rm/_HOST@R");
  const auto identity = std::make_shared<sasl::TestIdentity>();
  Account account("alice");
  account.identity = identity;
  const Login login = login_of(account, configuration, kPrincipalKey);
  EXPECT_EQ(login.user, "");
  const auto mechanism = login.methods.at("KERBEROS")(kOffer, "localhost");
  ASSERT_TRUE(mechanism.ok()) << mechanism.error().message;
  EXPECT_THAT(identity->opened, ElementsAre(Pair("rm/localhost@R", sasl::GssMechanism::kKerberos)));
  EXPECT_NE(web_login_of(account), nullptr);
}

TEST(Account, AnotherServerGetsNoTicket) {
  Configuration configuration;
  configuration.set(kPrincipalKey, "rm/_HOST@R");
  const auto identity = std::make_shared<sasl::TestIdentity>();
  Account account("alice");
  account.identity = identity;
  const Login login = login_of(account, configuration, kPrincipalKey);
  SaslOffer other = kOffer;
  other.protocol = "nm";
  EXPECT_FALSE(login.methods.at("KERBEROS")(other, "localhost").ok());
  other = kOffer;
  other.mechanism = "SCRAM";
  EXPECT_THAT(login.methods.at("KERBEROS")(other, "localhost").error().message,
              HasSubstr("by SCRAM; GSSAPI is known"));
  configuration.set("hadoop.rpc.protection", "much");
  const Login wrong = login_of(account, configuration, kPrincipalKey);
  EXPECT_THAT(wrong.methods.at("KERBEROS")(kOffer, "localhost").error().message,
              HasSubstr("expected authentication, integrity or privacy"));
  EXPECT_TRUE(identity->opened.empty());
}

TEST(Account, AProxyUserActsForAnother) {
  const Configuration configuration;
  Account account("alice");
  account.real_user = "oozie";
  account.identity = std::make_shared<sasl::TestIdentity>();
  const Login login = login_of(account, configuration, kPrincipalKey);
  EXPECT_EQ(login.user, "alice");
  EXPECT_EQ(login.real_user, "");
}

}  // namespace
}  // namespace gangrun::hadoop
