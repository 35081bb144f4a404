#include "net/url.h"

#include <algorithm>

#include "base/format.h"
#include "base/strings.h"
#include "net/hosts.h"
#include "net/http.h"

namespace gangrun::net {

namespace {

constexpr std::string_view kHttp = "http://";
constexpr std::string_view kHttps = "https://";
constexpr std::uint16_t kHttpPort = 80;
constexpr std::uint16_t kHttpsPort = 443;
constexpr std::int64_t kMaxPort = 65535;
constexpr std::size_t kMaxHostBytes = 255;

bool is_printable(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c > 0x20 && c < 0x7f; });
}

base::Error not_a_url(std::string_view text, std::string_view why) {
  const std::string shown = base::shorten(text.substr(0, text.find('?')), kMaxHostBytes);
  return base::invalid_argument(base::format("\"{}\" is not a URL: {}", shown, why));
}

bool is_host_name(std::string_view text) {
  return !text.empty() && text.size() <= kMaxHostBytes &&
         text.find_first_of("@:/[]\\\"<>") == std::string_view::npos;
}

}  // namespace

base::Result<Url> parse_url(std::string_view text) {
  Url url;
  url.tls = text.starts_with(kHttps);
  if (!url.tls && !text.starts_with(kHttp)) {
    return not_a_url(text, "it must begin with http:// or https://");
  }
  const std::string_view rest = text.substr((url.tls ? kHttps : kHttp).size());
  if (rest.size() > kMaxTargetBytes + kMaxHostBytes) return not_a_url(text, "it is too long");
  if (!is_printable(rest) || rest.find('#') != std::string_view::npos) {
    return not_a_url(text, "a space, \"#\" or another special character is not encoded");
  }
  const std::size_t end = std::min(rest.find_first_of("/?"), rest.size());
  const std::string_view authority = rest.substr(0, end);
  url.target = rest.substr(end);
  if (!url.target.starts_with('/')) url.target.insert(0, "/");

  const bool bracket = authority.starts_with('[');
  const std::size_t colon = authority.find(':', bracket ? authority.find(']') : 0);
  std::string_view host = authority.substr(0, colon);
  if (bracket) {
    if (host.size() < 2 || !host.ends_with(']')) return not_a_url(text, "\"]\" is missing");
    host = host.substr(1, host.size() - 2);
    if (!is_numeric_address(host)) return not_a_url(text, "between [ ] must be an IPv6 address");
  } else if (!is_host_name(host)) {
    return not_a_url(text, "its host is empty or has a character that no host name has");
  }
  url.host = host;
  url.port = url.tls ? kHttpsPort : kHttpPort;
  if (colon != std::string_view::npos) {
    const auto port = base::parse_integer(authority.substr(colon + 1));
    if (!port || *port < 1 || *port > kMaxPort) return not_a_url(text, "its port is invalid");
    url.port = static_cast<std::uint16_t>(*port);
  }
  return url;
}

std::string origin_of(const Url& url) {
  return base::format("{}{}", url.tls ? kHttps : kHttp, host_port(url.host, url.port));
}

std::string without_query(const Url& url) {
  return origin_of(url) + url.target.substr(0, url.target.find('?'));
}

}  // namespace gangrun::net
