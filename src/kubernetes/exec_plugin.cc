#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "base/format.h"
#include "kubernetes/access.h"
#include "kubernetes/kubeconfig_section.h"
#include "kubernetes/rfc3339.h"
#include "kubernetes/value_at.h"
#include "net/digests.h"

namespace gangrun::kubernetes {

namespace {

constexpr std::string_view kKind = "ExecCredential";
constexpr std::size_t kMaxOutputBytes = std::size_t{1} << 20U;

base::Json cluster_info(const Plugin& plugin, const Access& access) {
  const net::RemoteOptions& remote = access.remote;
  base::Json cluster = {{"server", remote.url}};
  if (!remote.server_name.empty()) cluster["tls-server-name"] = remote.server_name;
  if (!remote.verifies_server) cluster["insecure-skip-tls-verify"] = true;
  if (!remote.authorities_pem.empty()) {
    cluster["certificate-authority-data"] = net::to_base64(remote.authorities_pem);
  }
  // A password is not for an environment.
  const std::string& proxy = remote.proxy.reveal();
  if (!proxy.empty() && proxy.find('@') == std::string::npos) cluster["proxy-url"] = proxy;
  cluster["config"] = plugin.cluster_config;
  return cluster;
}

// Shows nothing of the output.
base::Error wrong_output(const Plugin& plugin, std::string_view what) {
  const std::string name = plugin.command.empty() ? "" : plugin.command.front();
  return {base::Code::kUnauthenticated,
          base::format("the output of the credential plugin {} {}", shown(name), what)};
}

base::Result<std::string> text_of(const Plugin& plugin, const base::Json& object,
                                  std::string_view key) {
  auto member = base::json_member_or<std::string>(object, key, "");
  if (!member.ok()) return wrong_output(plugin, base::format("has a {} that is not a string", key));
  return member;
}

base::Result<Credentials> read_status(const Plugin& plugin, const base::Json& status) {
  Credentials credentials;
  GANGRUN_ASSIGN(std::string token, text_of(plugin, status, "token"));
  const auto is_printable = [](char c) { return c > 0x20 && c < 0x7f; };
  if (!std::ranges::all_of(token, is_printable)) {
    return wrong_output(plugin, "has a token with characters that no token has");
  }
  GANGRUN_ASSIGN(credentials.certificate_pem, text_of(plugin, status, "clientCertificateData"));
  GANGRUN_ASSIGN(std::string key, text_of(plugin, status, "clientKeyData"));
  if (credentials.certificate_pem.empty() != key.empty()) {
    return wrong_output(plugin,
                        "has one of clientCertificateData and clientKeyData without the other");
  }
  if (token.empty() && key.empty()) {
    return wrong_output(plugin, "has neither token nor clientCertificateData and clientKeyData");
  }
  credentials.token = base::Secret(std::move(token));
  credentials.key_pem = base::Secret(std::move(key));
  GANGRUN_ASSIGN(const std::string expiry, text_of(plugin, status, "expirationTimestamp"));
  credentials.expires_at = parse_rfc3339(expiry);
  if (!expiry.empty() && !credentials.expires_at) {
    return wrong_output(plugin,
                        "has an expirationTimestamp that is not a time like 2026-01-31T12:00:00Z");
  }
  return credentials;
}

}  // namespace

std::string plugin_input(const Plugin& plugin, const Access& access) {
  base::Json spec = {{"interactive", false}};
  if (plugin.provides_cluster_info) spec["cluster"] = cluster_info(plugin, access);
  return base::dump_json(
      {{"apiVersion", plugin.api_version}, {"kind", kKind}, {"spec", std::move(spec)}});
}

base::Result<Credentials> read_plugin_output(const Plugin& plugin, std::string_view output) {
  // The parser's message shows what it stumbled over.
  const auto json = base::parse_json(output, kMaxOutputBytes);
  if (!json.ok() || !json->is_object()) return wrong_output(plugin, "is not a JSON object");
  GANGRUN_ASSIGN(const std::string kind, text_of(plugin, *json, "kind"));
  GANGRUN_ASSIGN(const std::string version, text_of(plugin, *json, "apiVersion"));
  if (kind != kKind) {
    return wrong_output(plugin, base::format("has the kind {}; allowed is {}", shown(kind), kKind));
  }
  if (version != plugin.api_version) {
    return wrong_output(plugin, base::format("has the apiVersion {}; the request was for {}",
                                             shown(version), plugin.api_version));
  }
  const base::Json& status = value_at(*json, {"status"});
  if (!status.is_object()) return wrong_output(plugin, "has no status");
  return read_status(plugin, status);
}

}  // namespace gangrun::kubernetes
