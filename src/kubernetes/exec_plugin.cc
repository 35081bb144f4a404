#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "base/format.h"
#include "kubernetes/access.h"
#include "kubernetes/kubeconfig_section.h"
#include "kubernetes/rfc3339.h"
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

// Reads the fields of one output; its errors show nothing of it.
class OutputReader {
 public:
  explicit OutputReader(const Plugin& plugin) : plugin_(plugin) {}

  base::Result<Credentials> read(std::string_view output) {
    // The parser's message shows what it stumbled over.
    const auto json = base::parse_json(output, kMaxOutputBytes);
    if (!json.ok() || !json->is_object()) return error("is not a JSON object");
    GANGRUN_ASSIGN(const std::string kind, text(*json, "kind"));
    GANGRUN_ASSIGN(const std::string version, text(*json, "apiVersion"));
    if (kind != kKind) {
      return error(base::format("has the kind {}; allowed is {}", shown(kind), kKind));
    }
    if (version != plugin_.api_version) {
      return error(base::format("has the apiVersion {}; the request was for {}", shown(version),
                                plugin_.api_version));
    }
    const auto status = json->find("status");
    if (status == json->end() || !status->is_object()) return error("has no status");
    return read_status(*status);
  }

 private:
  base::Result<Credentials> read_status(const base::Json& status) {
    Credentials credentials;
    GANGRUN_ASSIGN(std::string token, text(status, "token"));
    const auto is_printable = [](char c) { return c > 0x20 && c < 0x7f; };
    if (!std::ranges::all_of(token, is_printable)) {
      return error("has a token with characters that no token has");
    }
    GANGRUN_ASSIGN(credentials.certificate_pem, text(status, "clientCertificateData"));
    GANGRUN_ASSIGN(std::string key, text(status, "clientKeyData"));
    if (credentials.certificate_pem.empty() != key.empty()) {
      return error("has one of clientCertificateData and clientKeyData without the other");
    }
    if (token.empty() && key.empty()) {
      return error("has neither token nor clientCertificateData and clientKeyData");
    }
    credentials.token = base::Secret(std::move(token));
    credentials.key_pem = base::Secret(std::move(key));
    GANGRUN_ASSIGN(const std::string expiry, text(status, "expirationTimestamp"));
    if (!expiry.empty()) {
      credentials.expires_at = parse_rfc3339(expiry);
      if (!credentials.expires_at) {
        return error("has an expirationTimestamp that is not a time like 2026-01-31T12:00:00Z");
      }
    }
    return credentials;
  }

  [[nodiscard]] base::Result<std::string> text(const base::Json& object,
                                               std::string_view key) const {
    auto member = base::json_member_or<std::string>(object, key, "");
    if (!member.ok()) return error(base::format("has a {} that is not a string", key));
    return member;
  }

  [[nodiscard]] base::Error error(std::string_view what) const {
    const std::string name = plugin_.command.empty() ? "" : plugin_.command.front();
    return {base::Code::kUnauthenticated,
            base::format("the output of the credential plugin {} {}", shown(name), what)};
  }

  const Plugin& plugin_;
};

}  // namespace

std::string plugin_input(const Plugin& plugin, const Access& access) {
  base::Json spec = {{"interactive", false}};
  if (plugin.provides_cluster_info) spec["cluster"] = cluster_info(plugin, access);
  return base::dump_json(
      {{"apiVersion", plugin.api_version}, {"kind", kKind}, {"spec", std::move(spec)}});
}

base::Result<Credentials> read_plugin_output(const Plugin& plugin, std::string_view output) {
  return OutputReader(plugin).read(output);
}

}  // namespace gangrun::kubernetes
