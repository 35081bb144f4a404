#include "hadoop/release.h"

#include <algorithm>
#include <vector>

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
constexpr int kManagerHttpPort = 8088;
constexpr int kManagerHttpsPort = 8090;

std::optional<Release> release_in(const std::string& body) {
  const auto json = base::parse_json(body, kMaxAnswerBytes);
  if (!json.ok() || !json->is_object()) return std::nullopt;
  const auto info = json->find("clusterInfo");
  if (info == json->end() || !info->is_object()) return std::nullopt;
  const auto text = base::json_member<std::string>(*info, "hadoopVersion");
  return text.ok() ? parse_release(*text) : std::nullopt;
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
  const bool tls = configuration.get_or("yarn.http.policy", "HTTP_ONLY") == "HTTPS_ONLY";
  const auto servers =
      tls ? resource_manager_addresses(configuration, "yarn.resourcemanager.webapp.https.address",
                                       kManagerHttpsPort)
          : resource_manager_addresses(configuration, "yarn.resourcemanager.webapp.address",
                                       kManagerHttpPort);
  if (!servers.ok()) return std::nullopt;
  for (const ServerAddress& server : *servers) {
    net::FetchRequest request;
    request.url = base::format("{}://{}/ws/v1/cluster/info", tls ? "https" : "http",
                               net::host_port(server.host, server.port));
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

}  // namespace gangrun::hadoop
