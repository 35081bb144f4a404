#include "zookeeper/servers.h"

#include <optional>
#include <string_view>

#include "base/format.h"
#include "net/hosts.h"

namespace gangrun::zookeeper {

namespace {

// Where ZooKeeper listens unless it is told otherwise.
constexpr std::string_view kDefaultPort = "2181";

struct Server {
  std::string host;
  std::string port;
};

// "host", "host:2181", "[fd00::5]:2181", "[fd00::5]".
Server parse(const std::string& text) {
  const std::size_t colon = text.rfind(':');
  const std::size_t bracket = text.rfind(']');
  const bool has_port =
      colon != std::string::npos && (bracket == std::string::npos || bracket < colon);
  Server server{text.substr(0, has_port ? colon : text.size()),
                has_port ? text.substr(colon + 1) : std::string(kDefaultPort)};
  if (server.host.starts_with('[') && server.host.ends_with(']')) {
    server.host = server.host.substr(1, server.host.size() - 2);
  }
  return server;
}

}  // namespace

base::Result<std::vector<std::string>> numeric_servers(const std::vector<std::string>& hosts,
                                                       base::Instant deadline) {
  std::vector<std::string> servers;
  std::optional<base::Error> failed;
  for (const std::string& text : hosts) {
    const Server server = parse(text);
    const auto addresses = net::resolve(server.host, deadline);
    if (!addresses.ok()) {
      failed = addresses.error();
      continue;
    }
    for (const std::string& address : *addresses) {
      servers.push_back(base::format("{}:{}", address, server.port));
    }
  }
  if (servers.empty() && failed) return *failed;
  return servers;
}

}  // namespace gangrun::zookeeper
