#include "kubernetes/proxy.h"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <utility>

#include "base/format.h"
#include "base/letters.h"
#include "base/strings.h"
#include "net/hosts.h"

namespace gangrun::kubernetes {

namespace {

constexpr std::string_view kHttp = "http://";
constexpr std::string_view kSchemeEnd = "://";
constexpr std::string_view kAllowed = "allowed is http://[user:password@]host:port";

// An address in IPv6's form, into which those of IPv4 are mapped.
using AddressBytes = std::array<std::uint8_t, 16>;
constexpr int kAddressBits = 128;
constexpr int kMappedBits = 96;

struct Address {
  AddressBytes bytes{};
  bool is_v4 = false;
};

std::optional<Address> parse_address(const std::string& text) {
  Address address;
  if (::inet_pton(AF_INET6, text.c_str(), address.bytes.data()) == 1) return address;
  address.bytes[10] = address.bytes[11] = 0xff;
  address.is_v4 = true;
  if (::inet_pton(AF_INET, text.c_str(), &address.bytes[12]) == 1) return address;
  return std::nullopt;
}

bool is_same_network(const AddressBytes& a, const AddressBytes& b, int bits) {
  for (int bit = 0; bit < bits; ++bit) {
    const auto mask = static_cast<std::uint8_t>(0x80U >> static_cast<unsigned>(bit % 8));
    const auto at = static_cast<std::size_t>(bit / 8);
    if (((a.at(at) ^ b.at(at)) & mask) != 0) return false;
  }
  return true;
}

// "10.0.0.0/8"; nothing where the rule is no network.
std::optional<bool> is_in_network(const std::string& rule, const std::optional<Address>& host) {
  const std::size_t slash = rule.find('/');
  if (slash == std::string::npos) return std::nullopt;
  const auto network = parse_address(rule.substr(0, slash));
  const auto length = base::parse_integer(std::string_view(rule).substr(slash + 1));
  if (!network || !length || *length < 0) return std::nullopt;
  const std::int64_t bits = *length + (network->is_v4 ? kMappedBits : 0);
  if (bits > kAddressBits) return std::nullopt;
  return host && is_same_network(network->bytes, host->bytes, static_cast<int>(bits));
}

// "host:port" and "[address]:port" taken apart; the port is empty where there is none.
std::pair<std::string, std::string> split_port(const std::string& rule) {
  const bool has_bracket = rule.starts_with('[');
  const std::size_t colon = rule.rfind(':');
  const bool has_port = colon != std::string::npos &&
                        (has_bracket ? rule[colon - 1] == ']' : rule.find(':') == colon);
  std::string host = has_port ? rule.substr(0, colon) : rule;
  if (has_bracket && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  return {host, has_port ? rule.substr(colon + 1) : ""};
}

// ".example.org" and "*.example.org" are the hosts below, "example.org" is that host too.
bool is_in_domain(const std::string& host, std::string domain) {
  if (domain.starts_with("*.")) domain.erase(0, 1);
  if (domain.starts_with('.')) return host.ends_with(domain);
  return host == domain || host.ends_with("." + domain);
}

// Whether one rule of NO_PROXY is for the server; `host` is in small letters.
bool is_for(const std::string& rule, const std::string& host, std::uint16_t port) {
  if (rule.empty()) return false;
  if (rule == "*") return true;
  const auto address = parse_address(host);
  if (const auto is_in = is_in_network(rule, address)) return *is_in;
  const auto [named, named_port] = split_port(rule);
  if (named.empty() || (!named_port.empty() && named_port != std::to_string(port))) return false;
  if (const auto other = parse_address(named)) return address && other->bytes == address->bytes;
  return is_in_domain(host, named);
}

struct Variable {
  std::string name;
  std::string value;
};

// Go's order: large letters first, an empty one is none.
Variable find_variable(const std::map<std::string, std::string>& environment, std::string name) {
  for (const std::string& tried : {name, base::in_small_letters(name)}) {
    const auto found = environment.find(tried);
    if (found != environment.end() && !found->second.empty()) return {tried, found->second};
  }
  return {std::move(name), ""};
}

}  // namespace

base::Result<base::Secret> parse_proxy(std::string_view text) {
  const std::size_t scheme_end = text.find(kSchemeEnd);
  if (scheme_end == std::string_view::npos) {
    return base::invalid_argument(base::format("not the address of a proxy; {}", kAllowed));
  }
  if (!base::same_without_case(text.substr(0, scheme_end), "http")) {
    return base::invalid_argument(
        base::format("a proxy of another kind than http is not used; {}", kAllowed));
  }
  std::string_view rest = text.substr(scheme_end + kSchemeEnd.size());
  rest = rest.substr(0, rest.find_first_of("/?#"));
  const std::size_t at = rest.rfind('@');
  const std::string_view login = at == std::string_view::npos ? "" : rest.substr(0, at + 1);
  const auto url = net::parse_url(std::string(kHttp) + std::string(rest.substr(login.size())));
  const bool is_printable = std::ranges::all_of(login, [](char c) { return c > 0x20 && c < 0x7f; });
  if (!url.ok() || !is_printable) {
    return base::invalid_argument(base::format("not the address of a proxy; {}", kAllowed));
  }
  return base::Secret(base::format("{}{}{}", kHttp, login, net::host_port(url->host, url->port)));
}

base::Result<base::Secret> proxy_for(const net::Url& server,
                                     const std::map<std::string, std::string>& environment) {
  Variable proxy = find_variable(environment, server.tls ? "HTTPS_PROXY" : "HTTP_PROXY");
  if (proxy.value.empty()) return base::Secret();
  const std::string host = base::in_small_letters(server.host);
  if (host == "localhost" || net::is_loopback_address(host)) return base::Secret();
  for (const std::string& rule : base::split(find_variable(environment, "NO_PROXY").value, ',')) {
    if (is_for(base::in_small_letters(base::trim(rule)), host, server.port)) return base::Secret();
  }
  if (proxy.value.find(kSchemeEnd) == std::string::npos) proxy.value.insert(0, kHttp);
  return parse_proxy(proxy.value).context(proxy.name);
}

}  // namespace gangrun::kubernetes
