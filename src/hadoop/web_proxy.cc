#include "hadoop/web_proxy.h"

#include "base/format.h"
#include "hadoop/configuration.h"
#include "hadoop/rpc_round.h"
#include "net/hosts.h"

namespace gangrun::hadoop {

namespace {

constexpr const char* kOwnAddress = "yarn.web-proxy.address";
constexpr int kHttpPort = 8088;
constexpr int kHttpsPort = 8090;
constexpr int kOwnPort = 9099;

// A ResourceManager that listens at all its addresses is known by its name; without one, everything
// is on one machine.
std::string reachable(const Configuration& configuration, const std::string& host) {
  if (host != "0.0.0.0") return host;
  const std::string name = configuration.get_or("yarn.resourcemanager.hostname", "");
  return name.empty() || name == "0.0.0.0" ? "127.0.0.1" : name;
}

base::Result<std::vector<ServerAddress>> servers(const Configuration& configuration, bool tls) {
  if (const auto own = configuration.get(kOwnAddress); own && !own->empty()) {
    auto address = parse_server_address(*own, kOwnPort);
    if (!address.ok()) return configuration.error(kOwnAddress, "expected host:port");
    return std::vector<ServerAddress>{*std::move(address)};
  }
  return tls ? resource_manager_addresses(configuration,
                                          "yarn.resourcemanager.webapp.https.address", kHttpsPort)
             : resource_manager_addresses(configuration, "yarn.resourcemanager.webapp.address",
                                          kHttpPort);
}

}  // namespace

base::Result<WebProxy> web_proxy(const Configuration& configuration) {
  const bool tls = configuration.get_or("yarn.http.policy", "HTTP_ONLY") == "HTTPS_ONLY";
  GANGRUN_ASSIGN(const auto found, servers(configuration, tls));
  WebProxy proxy;
  for (const ServerAddress& server : found) {
    proxy.hosts.push_back(reachable(configuration, server.host));
  }
  proxy.url = base::format("{}://{}", tls ? "https" : "http",
                           net::host_port(proxy.hosts.front(), found.front().port));
  return proxy;
}

}  // namespace gangrun::hadoop
