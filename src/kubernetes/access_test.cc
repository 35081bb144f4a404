#include "kubernetes/access.h"

#include <gmock/gmock.h>

#include "kubernetes/test_surroundings_internal.h"

namespace gangrun::kubernetes {
namespace {

constexpr const char* kConfig = R"({"current-context": "a",
  "contexts": [
    {"name": "a", "context": {"cluster": "c", "user": "u", "namespace": "team"}},
    {"name": "b", "context": {"cluster": "c"}},
    {"name": "plugin", "context": {"cluster": "c", "user": "plugin"}},
    {"name": "plain", "context": {"cluster": "plain"}},
    {"name": "plain-login", "context": {"cluster": "plain", "user": "u"}},
    {"name": "far", "context": {"cluster": "far"}},
    {"name": "no-cluster", "context": {"cluster": "gone"}},
    {"name": "no-user", "context": {"cluster": "c", "user": "gone"}},
    {"name": "bad-namespace", "context": {"cluster": "c", "namespace": "../x"}}],
  "clusters": [
    {"name": "c", "cluster": {"server": "https://c:6443", "extensions": [
      {"name": "client.authentication.k8s.io/exec", "extension": {"audience": "x"}}]}},
    {"name": "plain", "cluster": {"server": "http://127.0.0.1:8001"}},
    {"name": "far", "cluster": {"server": "http://10.0.0.1:8080"}}],
  "users": [{"name": "u", "user": {"token": "t"}},
    {"name": "plugin", "user": {"exec": {"apiVersion": "client.authentication.k8s.io/v1",
      "command": "x", "provideClusterInfo": true}}}]})";

using Map = std::map<std::string, std::string>;

base::Result<Access> find(const std::string& context, Map environment = {{"KUBECONFIG", "/k"}}) {
  return find_access({.kubeconfig = "", .context = context},
                     test_surroundings({{"/k", kConfig}}, std::move(environment)));
}

std::string access_error(const base::Result<Access>& access) {
  EXPECT_FALSE(access.ok());
  return access.ok() ? "" : access.error().message;
}

TEST(FindAccess, TakesTheCurrentContextOrTheOneThatIsNamed) {
  const auto current = find("");
  ASSERT_TRUE(current.ok()) << current.error().message;
  EXPECT_EQ(current->remote.url, "https://c:6443");
  EXPECT_EQ(std::get<base::Secret>(current->login).reveal(), "t");
  EXPECT_EQ(current->name_space, "team");
  EXPECT_EQ(current->context, "a");
  EXPECT_EQ(current->source, "/k");
  const auto other = find("b");
  ASSERT_TRUE(other.ok()) << other.error().message;
  EXPECT_TRUE(std::holds_alternative<std::monostate>(other->login));
  EXPECT_EQ(other->name_space, "default");
  const auto plugin = find("plugin");
  ASSERT_TRUE(plugin.ok()) << plugin.error().message;
  EXPECT_EQ(std::get<Plugin>(plugin->login).cluster_config["audience"], "x");
}

TEST(FindAccess, SaysWhatAWrongContextLeadsTo) {
  EXPECT_EQ(access_error(find("z")),
            "/k: the context \"z\" does not exist; there are: \"a\", \"b\", \"bad-namespace\", "
            "\"far\", \"no-cluster\", \"no-user\", \"plain\", \"plain-login\", \"plugin\"");
  EXPECT_EQ(access_error(find("no-cluster")),
            "/k: context \"no-cluster\": cluster \"gone\" does not exist; there are: \"c\", "
            "\"far\", \"plain\"");
  EXPECT_EQ(access_error(find("no-user")),
            "/k: context \"no-user\": user \"gone\" does not exist; there are: \"plugin\", \"u\"");
  EXPECT_EQ(access_error(find("bad-namespace")),
            "/k: context \"bad-namespace\": namespace is \"../x\"; allowed are up to 63 of a-z, "
            "0-9 and -");
}

TEST(FindAccess, LooksWhereKubectlLooks) {
  const Map files{{"/k", kConfig}, {"/home/u/.kube/config", kConfig}, {"/own", kConfig}};
  const auto source = [&](const AccessOptions& options, Map environment) {
    environment["HOME"] = "/home/u";
    const auto access = find_access(options, test_surroundings(files, std::move(environment)));
    return access.ok() ? access->source : access.error().message;
  };
  EXPECT_EQ(source({}, {}), "/home/u/.kube/config");
  EXPECT_EQ(source({}, {{"KUBECONFIG", "/k0:/k:/k:"}}), "/k");
  EXPECT_EQ(source({.kubeconfig = "/own", .context = ""}, {{"KUBECONFIG", "/k"}}), "/own");
  EXPECT_EQ(source({}, {{"KUBECONFIG", "/k0"}}), "while reading the kubeconfig: no file /k0");
  EXPECT_EQ(source({}, {{"KUBECONFIG", "/k0:/too"}}),
            "no cluster is configured: of KUBECONFIG=/k0:/too no file exists");
  EXPECT_EQ(source({.kubeconfig = "/k0", .context = ""}, {}),
            "while reading the kubeconfig: no file /k0");
}

TEST(FindAccess, SaysWhereItLookedInVain) {
  const auto machine = test_surroundings({}, {{"HOME", "/home/u"}});
  const auto nothing = find_access({}, machine);
  ASSERT_FALSE(nothing.ok());
  EXPECT_EQ(nothing.error().code, base::Code::kNotFound);
  EXPECT_EQ(nothing.error().message,
            "no cluster is configured: KUBECONFIG is not set, there is no /home/u/.kube/config, "
            "and this is not a pod with a service account");
  EXPECT_EQ(access_error(find_access({.kubeconfig = "", .context = "x"}, machine)),
            "no cluster is configured: KUBECONFIG is not set, there is no /home/u/.kube/config, "
            "and only a kubeconfig has a context \"x\"");
}

TEST(FindAccess, TakesThePodsServiceAccount) {
  const Map environment{{"KUBERNETES_SERVICE_HOST", "fd00::1"}, {"KUBERNETES_SERVICE_PORT", "443"}};
  const auto access = find_access(
      {}, test_surroundings(
              {{"/account/token", "t"}, {"/account/ca.crt", "PEM"}, {"/account/namespace", "n\n"}},
              environment));
  ASSERT_TRUE(access.ok()) << access.error().message;
  EXPECT_EQ(access->remote.url, "https://[fd00::1]:443");
  EXPECT_EQ(access->remote.authorities_pem, "PEM");
  EXPECT_EQ(std::get<TokenFile>(access->login).path, "/account/token");
  EXPECT_EQ(access->name_space, "n");
  EXPECT_EQ(access->source, "the pod's service account");
  const auto bare = find_access({}, test_surroundings({{"/account/token", "t"}}, environment));
  ASSERT_TRUE(bare.ok()) << bare.error().message;
  EXPECT_EQ(bare->name_space, "default");
  EXPECT_FALSE(find_access({}, test_surroundings({}, environment)).ok());
  const auto wrong =
      test_surroundings({{"/account/token", "t"}},
                        {{"KUBERNETES_SERVICE_HOST", "a"}, {"KUBERNETES_SERVICE_PORT", "tcp://x"}});
  EXPECT_EQ(access_error(find_access({}, wrong)),
            "KUBERNETES_SERVICE_PORT is \"tcp://x\"; allowed is a port");
}

TEST(FindAccess, TakesNoTlsOnThisMachineOnlyAndWithoutALogin) {
  EXPECT_TRUE(find("plain").ok());
  const std::string allowed =
      " has no TLS; allowed is https://, or http:// to this machine (127.0.0.1) with a user who "
      "has no token, password or plugin";
  EXPECT_EQ(access_error(find("plain-login")), "/k: server \"http://127.0.0.1:8001\"" + allowed);
  EXPECT_EQ(access_error(find("far")), "/k: server \"http://10.0.0.1:8080\"" + allowed);
}

TEST(FindAccess, AsksTheEnvironmentForAProxy) {
  const Map environment{{"KUBECONFIG", "/k"}, {"HTTPS_PROXY", "p:3128"}};
  EXPECT_EQ(find("", environment)->remote.proxy.reveal(), "http://p:3128");
  EXPECT_EQ(access_error(find("", {{"KUBECONFIG", "/k"}, {"HTTPS_PROXY", "https://p"}})),
            "HTTPS_PROXY: a proxy of another kind than http is not used; allowed is "
            "http://[user:password@]host:port");
}

}  // namespace
}  // namespace gangrun::kubernetes
