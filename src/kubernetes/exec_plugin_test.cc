#include <gmock/gmock.h>

#include "kubernetes/access.h"

namespace gangrun::kubernetes {
namespace {

Plugin plugin() {
  Plugin plugin;
  plugin.command = {"get-token", "--secret"};
  plugin.api_version = "client.authentication.k8s.io/v1";
  return plugin;
}

std::string output(const std::string& status) {
  return R"({"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential", "status": )" +
         status + "}";
}

std::string exec_plugin_error(const std::string& text) {
  const auto credentials = read_plugin_output(plugin(), text);
  EXPECT_FALSE(credentials.ok()) << text;
  if (credentials.ok()) return "";
  EXPECT_EQ(credentials.error().code, base::Code::kUnauthenticated);
  EXPECT_THAT(credentials.error().message, testing::Not(testing::HasSubstr("secret")));
  constexpr std::string_view kBegin = "the output of the credential plugin \"get-token\" ";
  EXPECT_TRUE(credentials.error().message.starts_with(kBegin)) << credentials.error().message;
  return credentials.error().message.substr(kBegin.size());
}

TEST(PluginInput, TellsTheClusterWhereItIsWanted) {
  Access access;
  access.remote.url = "https://c:6443";
  access.remote.authorities_pem = "PEM";
  access.remote.server_name = "api";
  access.remote.verifies_server = false;
  access.remote.proxy = base::Secret("http://p:1");
  Plugin asked = plugin();
  EXPECT_EQ(plugin_input(asked, access),
            R"({"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential",)"
            R"("spec":{"interactive":false}})");
  asked.provides_cluster_info = true;
  asked.cluster_config = {{"audience", "x"}};
  EXPECT_EQ(plugin_input(asked, access),
            R"({"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential",)"
            R"("spec":{"interactive":false,"cluster":{"server":"https://c:6443",)"
            R"("tls-server-name":"api","insecure-skip-tls-verify":true,)"
            R"("certificate-authority-data":"UEVN","proxy-url":"http://p:1",)"
            R"("config":{"audience":"x"}}}})");
  access.remote.proxy = base::Secret("http://u:secret@p:1");
  EXPECT_THAT(plugin_input(asked, access), testing::Not(testing::HasSubstr("secret")));
}

TEST(ReadPluginOutput, TakesTokensAndCertificates) {
  const auto token = read_plugin_output(
      plugin(), output(R"({"token": "t", "expirationTimestamp": "2026-01-31T12:00:00+01:00"})"));
  ASSERT_TRUE(token.ok()) << token.error().message;
  EXPECT_EQ(token->token.reveal(), "t");
  EXPECT_EQ(base::to_iso8601(*token->expires_at), "2026-01-31T11:00:00.000Z");
  const auto certificate =
      read_plugin_output(plugin(), output(R"({"clientCertificateData": "C", "clientKeyData": "K",
                           "expirationTimestamp": null})"));
  ASSERT_TRUE(certificate.ok()) << certificate.error().message;
  EXPECT_EQ(certificate->certificate_pem, "C");
  EXPECT_EQ(certificate->key_pem.reveal(), "K");
  EXPECT_FALSE(certificate->expires_at);
}

TEST(ReadPluginOutput, SaysWhatIsWrongAndShowsNothingOfIt) {
  EXPECT_EQ(exec_plugin_error(""), "is not a JSON object");
  EXPECT_EQ(exec_plugin_error("secret"), "is not a JSON object");
  EXPECT_EQ(exec_plugin_error(R"({"token": "secret)"), "is not a JSON object");
  EXPECT_EQ(exec_plugin_error(R"(["secret"])"), "is not a JSON object");
  EXPECT_EQ(exec_plugin_error("{}"), "has the kind \"\"; allowed is ExecCredential");
  EXPECT_EQ(exec_plugin_error(R"({"kind": "ExecCredential", "apiVersion": "v1"})"),
            "has the apiVersion \"v1\"; the request was for client.authentication.k8s.io/v1");
  EXPECT_EQ(exec_plugin_error(output("null")), "has no status");
  EXPECT_EQ(exec_plugin_error(output("{}")),
            "has neither token nor clientCertificateData and clientKeyData");
  EXPECT_EQ(exec_plugin_error(output(R"({"token": 5})")), "has a token that is not a string");
  EXPECT_EQ(exec_plugin_error(output(R"({"token": "secret\r\nX: y"})")),
            "has a token with characters that no token has");
  EXPECT_EQ(exec_plugin_error(output(R"({"clientKeyData": "secret"})")),
            "has one of clientCertificateData and clientKeyData without the other");
  EXPECT_EQ(exec_plugin_error(output(R"({"token": "secret", "expirationTimestamp": "soon"})")),
            "has an expirationTimestamp that is not a time like 2026-01-31T12:00:00Z");
}

}  // namespace
}  // namespace gangrun::kubernetes
