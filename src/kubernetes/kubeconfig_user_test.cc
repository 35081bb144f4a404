#include <gmock/gmock.h>

#include "kubernetes/kubeconfig.h"
#include "kubernetes/test_surroundings_internal.h"

namespace gangrun::kubernetes {
namespace {

base::Result<Access> access_of(const std::string& json) {
  GANGRUN_ASSIGN(const Section user,
                 Section::make("/k/config", "user \"u\"", base::Json::parse(json)));
  Access access;
  const auto machine = test_surroundings({{"/k/c.pem", "CERTIFICATE"}, {"/k/k.pem", "KEY"}});
  GANGRUN_TRY(read_user(user, machine, access));
  return access;
}

std::string kubeconfig_user_error(const std::string& json) {
  const auto access = access_of(json);
  EXPECT_FALSE(access.ok()) << json;
  if (access.ok()) return "";
  EXPECT_EQ(access.error().code, base::Code::kInvalidArgument);
  EXPECT_TRUE(access.error().message.starts_with("/k/config: user \"u\": "));
  return access.error().message.substr(21);
}

TEST(ReadUser, TakesEachKindOfLogin) {
  const auto nobody = access_of("{}");
  ASSERT_TRUE(nobody.ok());
  EXPECT_TRUE(std::holds_alternative<std::monostate>(nobody->login));
  EXPECT_EQ(std::get<base::Secret>(access_of(R"({"token": "t"})")->login).reveal(), "t");
  EXPECT_EQ(std::get<TokenFile>(access_of(R"({"token": "t", "tokenFile": "f"})")->login).path,
            "/k/f");
  const auto named = access_of(R"({"username": "n", "password": "p"})");
  EXPECT_EQ(std::get<BasicLogin>(named->login).user, "n");
  EXPECT_EQ(std::get<BasicLogin>(named->login).password.reveal(), "p");
  const auto certified = access_of(R"({"client-certificate": "c.pem", "client-key": "k.pem"})");
  EXPECT_EQ(certified->remote.certificate_pem, "CERTIFICATE");
  EXPECT_EQ(certified->remote.key_pem.reveal(), "KEY");
}

TEST(ReadUser, TakesAPlugin) {
  const auto access = access_of(R"({"exec": {"apiVersion": "client.authentication.k8s.io/v1",
    "command": "get-token", "args": ["--a", "b"], "env": [{"name": "A", "value": "1"}],
    "installHint": "install it", "provideClusterInfo": true, "interactiveMode": "IfAvailable"}})");
  ASSERT_TRUE(access.ok()) << access.error().message;
  const Plugin expected{.command = {"get-token", "--a", "b"},
                        .environment = {{"A", "1"}},
                        .api_version = "client.authentication.k8s.io/v1",
                        .install_hint = "install it",
                        .provides_cluster_info = true,
                        .cluster_config = {}};
  EXPECT_EQ(std::get<Plugin>(access->login), expected);
  const auto beside = access_of(R"({"exec": {"apiVersion": "client.authentication.k8s.io/v1beta1",
    "command": "./bin/get", "args": null, "env": null}})");
  EXPECT_THAT(std::get<Plugin>(beside->login).command, testing::ElementsAre("/k/./bin/get"));
}

TEST(ReadUser, TakesAnotherUsersPart) {
  const auto access = access_of(R"({"token": "t", "as": "bob", "as-groups": ["x", "y"]})");
  EXPECT_EQ(access->impersonated_user, "bob");
  EXPECT_THAT(access->impersonated_groups, testing::ElementsAre("x", "y"));
  EXPECT_EQ(kubeconfig_user_error(R"({"as-groups": ["x"]})"), "as is missing beside as-groups");
  EXPECT_EQ(kubeconfig_user_error(R"({"as": "a", "as-uid": "1"})"),
            "as-uid is not taken; allowed are as and as-groups");
}

TEST(ReadUser, SaysWhatIsWrong) {
  EXPECT_EQ(kubeconfig_user_error(R"({"auth-provider": {"name": "gcp"}})"),
            "auth-provider is of the past: credential plugins (exec) have taken its place, for "
            "example gke-gcloud-auth-plugin or kubelogin");
  EXPECT_EQ(kubeconfig_user_error(R"({"token": "t", "username": "u"})"),
            "token and username exclude each other");
  EXPECT_EQ(kubeconfig_user_error(R"({"password": "secret"})"),
            "username is missing beside password");
  EXPECT_EQ(kubeconfig_user_error(R"({"client-key-data": "YQ=="})"),
            "client-certificate is missing: a certificate and its key are given together");
  EXPECT_EQ(kubeconfig_user_error(R"({"client-certificate-data": "YQ=="})"),
            "client-key is missing: a certificate and its key are given together");
  EXPECT_EQ(kubeconfig_user_error(R"({"token": "a\nsecret"})"),
            "token must be one line without control characters");
}

TEST(ReadUser, SaysWhatIsWrongWithAPlugin) {
  const auto error = [](const std::string& rest) {
    return kubeconfig_user_error(R"({"exec": {"apiVersion": "client.authentication.k8s.io/v1")" +
                                 rest + "}}");
  };
  EXPECT_EQ(
      kubeconfig_user_error(R"({"exec": {"apiVersion": "client.authentication.k8s.io/v1alpha1"}})"),
      "exec: apiVersion is \"client.authentication.k8s.io/v1alpha1\"; allowed are "
      "client.authentication.k8s.io/v1 and client.authentication.k8s.io/v1beta1");
  EXPECT_EQ(error(""), "exec: command is missing");
  EXPECT_EQ(error(R"(, "command": "x", "interactiveMode": "Always")"),
            "exec: interactiveMode is Always, but the plugin gets no terminal; allowed are Never "
            "and IfAvailable");
  EXPECT_EQ(error(R"(, "command": "x", "interactiveMode": "never")"),
            "exec: interactiveMode is \"never\"; allowed are Never and IfAvailable");
  EXPECT_EQ(error(R"(, "command": "x", "env": [{"name": "A=B"}])"),
            "exec: env[0]: name must be the name of a variable");
  EXPECT_EQ(error(R"(, "command": "x", "args": [1])"),
            "exec: args must be a list of texts (in quotes where they are numbers)");
}

}  // namespace
}  // namespace gangrun::kubernetes
