#include "kubernetes/kubeconfig_cluster.h"

#include <string>
#include <string_view>
#include <utility>

#include "base/format.h"
#include "kubernetes/proxy.h"
#include "net/url.h"

namespace gangrun::kubernetes {

namespace {

constexpr std::string_view kPluginExtension = "client.authentication.k8s.io/exec";
constexpr std::string_view kAuthorities = "certificate-authority";
constexpr std::string_view kInsecure = "insecure-skip-tls-verify";

base::Result<std::string> read_server(const Section& cluster) {
  GANGRUN_ASSIGN(std::string server, cluster.text("server"));
  if (server.empty()) {
    return cluster.error("server", "is missing; allowed is a URL like https://10.0.0.1:6443");
  }
  // Not shown: there may be a password before the "@".
  if (server.find('@') != std::string::npos) {
    return cluster.error("server", "must not have a user's name (\"@\"); logins stand under users");
  }
  const auto url = net::parse_url(server);
  if (!url.ok())
    return cluster.error("server", base::format("must be a URL: {}", url.error().message));
  if (server.find('?') != std::string::npos) return cluster.error("server", "must have no \"?\"");
  return server;
}

base::Result<bool> read_insecure(const Section& cluster, bool is_allowed) {
  GANGRUN_ASSIGN(const bool is_insecure, cluster.flag(kInsecure));
  if (!is_insecure) return false;
  if (!is_allowed) {
    return cluster.error(kInsecure,
                         "is true: anybody on the way could be the server. Give "
                         "certificate-authority, or allow it with \"insecure: true\" of the job");
  }
  if (cluster.has(kAuthorities) || cluster.has(std::string(kAuthorities) + "-data")) {
    return cluster.error(kInsecure, "and certificate-authority exclude each other");
  }
  return true;
}

}  // namespace

base::Result<net::RemoteOptions> read_cluster(const Section& cluster, bool allows_insecure,
                                              const Surroundings& surroundings) {
  net::RemoteOptions remote;
  GANGRUN_ASSIGN(remote.url, read_server(cluster));
  GANGRUN_ASSIGN(const bool is_insecure, read_insecure(cluster, allows_insecure));
  remote.verifies_server = !is_insecure;
  GANGRUN_ASSIGN(remote.authorities_pem, cluster.bytes(kAuthorities, surroundings));
  GANGRUN_ASSIGN(remote.server_name, cluster.line("tls-server-name"));
  GANGRUN_ASSIGN(const std::string proxy, cluster.text("proxy-url"));
  if (!proxy.empty()) {
    auto parsed = parse_proxy(proxy);
    if (!parsed.ok())
      return cluster.error("proxy-url", base::format("cannot be used: {}", parsed.error().message));
    remote.proxy = *std::move(parsed);
  }
  return remote;
}

base::Result<base::Json> read_plugin_config(const Section& cluster) {
  GANGRUN_ASSIGN(const auto extensions, cluster.sections("extensions"));
  for (const Section& extension : extensions) {
    if (extension.json("name") == kPluginExtension) return extension.json("extension");
  }
  return base::Json();
}

}  // namespace gangrun::kubernetes
