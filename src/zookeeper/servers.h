#pragma once

#include <string>

#include "base/result.h"

namespace gangrun::zookeeper {

struct ServerAddress {
  std::string host;  // a name, or an address without brackets
  std::string port;

  friend bool operator==(const ServerAddress&, const ServerAddress&) = default;
};

// "host", "host:2181", "[fd00::5]:2181", "[fd00::5]"; without a port ZooKeeper's own.
ServerAddress parse_server(const std::string& text);

// "host:port", an IPv6 address in brackets.
std::string to_string(const ServerAddress& server);

}  // namespace gangrun::zookeeper
