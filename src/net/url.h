#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace gangrun::net {

// An address on the web, taken apart; encoded parts stay encoded.
struct Url {
  bool tls = false;
  std::string host;
  std::uint16_t port = 0;
  std::string target = "/";  // path and query, as in a request line

  bool operator==(const Url&) const = default;
};

// "http://host:8080/path?query", "https://[::1]/". kInvalidArgument for another scheme, a user's
// name, a fragment, or what could not stand in a request line. Errors do not show the query: there
// may be a token in it.
base::Result<Url> parse_url(std::string_view text);

// "http://host:8080".
std::string origin_of(const Url& url);
// "http://host:8080/path", without the query: for people.
std::string without_query(const Url& url);

}  // namespace gangrun::net
