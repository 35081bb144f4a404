#include "hadoop/manager_pages.h"

#include "base/format.h"
#include "base/json.h"
#include "base/strings.h"
#include "hadoop/rpc_round.h"
#include "net/fetch.h"
#include "net/hosts.h"

namespace gangrun::hadoop {

namespace {

constexpr std::size_t kMaxAnswerBytes = std::size_t{64} << 10U;
constexpr std::size_t kMaxTextBytes = 60;
constexpr const char* kOwnAddress = "yarn.web-proxy.address";
constexpr int kHttpPort = 8088;
constexpr int kHttpsPort = 8090;
constexpr int kOwnPort = 9099;

bool is_by_tls(const Configuration& configuration) {
  return configuration.get_or("yarn.http.policy", "HTTP_ONLY") == "HTTPS_ONLY";
}

base::Result<std::vector<ServerAddress>> web_servers(const Configuration& configuration, bool tls) {
  return tls ? resource_manager_addresses(configuration,
                                          "yarn.resourcemanager.webapp.https.address", kHttpsPort)
             : resource_manager_addresses(configuration, "yarn.resourcemanager.webapp.address",
                                          kHttpPort);
}

std::string url_of(bool tls, const ServerAddress& server) {
  return base::format("{}://{}", tls ? "https" : "http", net::host_port(server.host, server.port));
}

std::optional<Release> release_in(const std::string& body) {
  const auto json = base::parse_json(body, kMaxAnswerBytes);
  if (!json.ok() || !json->is_object()) return std::nullopt;
  const auto info = json->find("clusterInfo");
  if (info == json->end() || !info->is_object()) return std::nullopt;
  const auto text = base::json_member<std::string>(*info, "hadoopVersion");
  return text.ok() ? parse_release(*text) : std::nullopt;
}

// A ResourceManager that listens at all its addresses is known by its name; without one, everything
// is on one machine.
std::string reachable(const Configuration& configuration, const std::string& host) {
  if (host != "0.0.0.0") return host;
  const std::string name = configuration.get_or("yarn.resourcemanager.hostname", "");
  return name.empty() || name == "0.0.0.0" ? "127.0.0.1" : name;
}

base::Result<std::vector<ServerAddress>> proxies(const Configuration& configuration, bool tls) {
  const auto own = configuration.get(kOwnAddress);
  if (!own || own->empty()) return web_servers(configuration, tls);
  auto address = parse_server_address(*own, kOwnPort);
  if (!address.ok()) return configuration.error(kOwnAddress, "expected host:port");
  return std::vector<ServerAddress>{*std::move(address)};
}

}  // namespace

std::optional<Release> parse_release(std::string_view text) {
  const auto parts = base::split(base::trim(text), '.');
  if (parts.size() < 2) return std::nullopt;
  const auto major = base::parse_integer(parts[0]);
  const auto minor = base::parse_integer(parts[1].substr(0, parts[1].find('-')));
  const auto is_number = [](const std::optional<std::int64_t>& number) {
    return number && *number >= 0 && *number < 1000;
  };
  if (!is_number(major) || !is_number(minor)) return std::nullopt;
  return Release{.major = static_cast<int>(*major),
                 .minor = static_cast<int>(*minor),
                 .text = base::shorten(base::trim(text), kMaxTextBytes)};
}

std::optional<Release> find_release(const Configuration& configuration, WebLogin* login,
                                    base::Instant deadline) {
  const bool tls = is_by_tls(configuration);
  const auto servers = web_servers(configuration, tls);
  if (!servers.ok()) return std::nullopt;
  for (const ServerAddress& server : *servers) {
    net::FetchRequest request;
    request.url = base::format("{}/ws/v1/cluster/info", url_of(tls, server));
    request.headers.add("Accept", "application/json");
    net::FetchOptions options;
    options.deadline = deadline;
    options.max_response_bytes = kMaxAnswerBytes;
    const auto answer =
        login == nullptr ? net::fetch(request, options) : login->fetch(request, options);
    if (!answer.ok() || answer->status != 200) continue;
    if (auto release = release_in(answer->body)) return release;
  }
  return std::nullopt;
}

base::Result<WebProxy> web_proxy(const Configuration& configuration) {
  const bool tls = is_by_tls(configuration);
  GANGRUN_ASSIGN(const auto found, proxies(configuration, tls));
  WebProxy proxy;
  for (const ServerAddress& server : found) {
    proxy.hosts.push_back(reachable(configuration, server.host));
  }
  proxy.url = url_of(tls, {proxy.hosts.front(), found.front().port});
  return proxy;
}

}  // namespace gangrun::hadoop
