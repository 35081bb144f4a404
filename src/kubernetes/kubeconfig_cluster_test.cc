#include <gmock/gmock.h>

#include "kubernetes/kubeconfig.h"
#include "kubernetes/test_surroundings_internal.h"

namespace gangrun::kubernetes {
namespace {

Section cluster(const char* json) {
  return *Section::make("/k", "cluster \"c\"", base::Json::parse(json));
}

std::string kubeconfig_cluster_error(const char* json) {
  const auto remote = read_cluster(cluster(json), false, test_surroundings({}));
  EXPECT_FALSE(remote.ok()) << json;
  if (remote.ok()) return "";
  EXPECT_EQ(remote.error().code, base::Code::kInvalidArgument);
  return remote.error().message;
}

TEST(ReadCluster, TakesAllThatTlsNeeds) {
  const auto remote = read_cluster(
      cluster(R"({"server": "https://[::1]:6443/path", "certificate-authority": "ca.crt",
        "tls-server-name": "api", "proxy-url": "http://u:p@proxy", "disable-compression": true})"),
      false, test_surroundings({{"/ca.crt", "PEM"}}));
  ASSERT_TRUE(remote.ok()) << remote.error().message;
  EXPECT_EQ(remote->url, "https://[::1]:6443/path");
  EXPECT_EQ(remote->authorities_pem, "PEM");
  EXPECT_EQ(remote->server_name, "api");
  EXPECT_EQ(remote->proxy.reveal(), "http://u:p@proxy:80");
  EXPECT_TRUE(remote->verifies_server);
}

TEST(ReadCluster, FollowsTheInsecureFlagOnlyWhereItIsAllowed) {
  const char* json = R"({"server": "https://a", "insecure-skip-tls-verify": true})";
  EXPECT_EQ(kubeconfig_cluster_error(json),
            "/k: cluster \"c\": insecure-skip-tls-verify is true: anybody on the way could be the "
            "server. Give certificate-authority, or allow it with \"insecure: true\" of the job");
  const auto remote = read_cluster(cluster(json), true, test_surroundings({}));
  ASSERT_TRUE(remote.ok());
  EXPECT_FALSE(remote->verifies_server);
  const auto both =
      read_cluster(cluster(R"({"server": "https://a", "insecure-skip-tls-verify": true,
                  "certificate-authority-data": "YQ=="})"),
                   true, test_surroundings({}));
  EXPECT_EQ(both.error().message,
            "/k: cluster \"c\": insecure-skip-tls-verify and certificate-authority exclude each "
            "other");
}

TEST(ReadCluster, SaysWhatIsWrong) {
  EXPECT_EQ(kubeconfig_cluster_error("{}"),
            "/k: cluster \"c\": server is missing; allowed is a URL like https://10.0.0.1:6443");
  EXPECT_EQ(kubeconfig_cluster_error(R"({"server": "10.0.0.1:6443"})"),
            "/k: cluster \"c\": server must be a URL: \"10.0.0.1:6443\" is not a URL: it must "
            "begin with http:// or https://");
  EXPECT_EQ(kubeconfig_cluster_error(R"({"server": "https://u:secret@a"})"),
            "/k: cluster \"c\": server must not have a user's name (\"@\"); logins stand under "
            "users");
  EXPECT_EQ(kubeconfig_cluster_error(R"({"server": "https://a/?token=secret"})"),
            "/k: cluster \"c\": server must have no \"?\"");
  EXPECT_EQ(
      kubeconfig_cluster_error(R"({"server": "https://a", "proxy-url": "socks5://u:secret@p"})"),
      "/k: cluster \"c\": proxy-url cannot be used: a proxy of another kind than http is not "
      "used; allowed is http://[user:password@]host:port");
  EXPECT_EQ(kubeconfig_cluster_error(R"({"server": "https://a", "certificate-authority": "gone"})"),
            "/k: cluster \"c\": certificate-authority cannot be used: no file /gone");
}

TEST(ReadPluginConfig, IsTheExtensionOfThatName) {
  EXPECT_EQ(*read_plugin_config(cluster(R"({"extensions": [{"name": "other", "extension": 1},
      {"name": "client.authentication.k8s.io/exec", "extension": {"audience": "x"}}]})")),
            base::Json::parse(R"({"audience": "x"})"));
  EXPECT_TRUE(read_plugin_config(cluster("{}"))->is_null());
}

}  // namespace
}  // namespace gangrun::kubernetes
