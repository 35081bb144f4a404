#pragma once

#include "net/asio_internal.h"
//
#include <boost/asio/ssl/context.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "base/secret.h"
#include "net/call.h"
#include "net/url.h"

namespace gangrun::net {

// A server that opens connections for others.
struct Proxy {
  std::string host;
  std::uint16_t port = 0;
  base::Secret authorization;  // the field Proxy-Authorization; empty: none
};

// See RemoteOptions::proxy. Errors do not show the user nor the password.
base::Result<Proxy> parse_proxy(const std::string& text);

struct Remote::State {
  Url url;
  std::string address;                      // "host:port" of it
  std::string server_name;                  // which the server's certificate must be for
  std::shared_ptr<asio::ssl::context> tls;  // null: plain
  std::optional<Proxy> proxy;
};

}  // namespace gangrun::net
