#include "zookeeper/servers.h"

#include <string_view>

#include "base/format.h"

namespace gangrun::zookeeper {

namespace {

// The port on which ZooKeeper listens by default.
constexpr std::string_view kDefaultPort = "2181";

}  // namespace

ServerAddress parse_server(const std::string& text) {
  const std::size_t colon = text.rfind(':');
  const std::size_t bracket = text.rfind(']');
  const bool has_port =
      colon != std::string::npos && (bracket == std::string::npos || bracket < colon);
  ServerAddress server{text.substr(0, has_port ? colon : text.size()),
                       has_port ? text.substr(colon + 1) : std::string(kDefaultPort)};
  if (server.host.starts_with('[') && server.host.ends_with(']')) {
    server.host = server.host.substr(1, server.host.size() - 2);
  }
  return server;
}

std::string to_string(const ServerAddress& server) {
  const bool is_ipv6 = server.host.find(':') != std::string::npos;
  return base::format("{}{}{}:{}", is_ipv6 ? "[" : "", server.host, is_ipv6 ? "]" : "",
                      server.port);
}

}  // namespace gangrun::zookeeper
