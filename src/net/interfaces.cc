#include "net/interfaces.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>

#include <algorithm>
#include <array>
#include <climits>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "base/format.h"
#include "base/strings.h"
#include "net/address_internal.h"
#include "net/hosts.h"

namespace gangrun::net {

namespace {

struct InterfacesFreer {
  void operator()(ifaddrs* list) const { ::freeifaddrs(list); }
};

// The bytes of an address: 4 or 16.
using Bytes = std::vector<std::uint8_t>;

struct Network {
  Bytes address;
  std::size_t bits = 0;  // the first so many of it
};

std::optional<Bytes> bytes_of(const std::string& address) {
  std::array<std::uint8_t, sizeof(in6_addr)> bytes{};
  if (::inet_pton(AF_INET, address.c_str(), bytes.data()) == 1) {
    return Bytes(bytes.begin(), bytes.begin() + sizeof(in_addr));
  }
  if (::inet_pton(AF_INET6, address.c_str(), bytes.data()) == 1) {
    return Bytes(bytes.begin(), bytes.end());
  }
  return std::nullopt;
}

// None: it is the name of an interface. An error: it would be a network, and is none.
base::Result<std::optional<Network>> parse_network(const std::string& text) {
  const std::size_t slash = text.find('/');
  const auto address = bytes_of(text.substr(0, slash));
  if (slash == std::string::npos && !address) return std::optional<Network>();
  const auto wrong = [&](std::string_view what) {
    return base::invalid_argument(
        base::format("'{}' is not a network: {}; allowed: a numeric address, '/' and the length of "
                     "its prefix, as 10.0.0.0/8 or fd00::/8",
                     text, what));
  };
  if (!address) return wrong(base::format("'{}' is not an address", text.substr(0, slash)));
  Network network{*address, address->size() * CHAR_BIT};
  if (slash != std::string::npos) {
    const auto bits = base::parse_integer(std::string_view(text).substr(slash + 1));
    if (!bits || *bits < 0 || *bits > static_cast<std::int64_t>(network.bits)) {
      return wrong(base::format("its prefix has 0 to {} bits", network.bits));
    }
    network.bits = static_cast<std::size_t>(*bits);
  }
  return std::optional(network);
}

bool is_in(const Network& network, const std::string& address) {
  const auto bytes = bytes_of(address);
  if (!bytes || bytes->size() != network.address.size()) return false;
  for (std::size_t bit = 0; bit < network.bits; ++bit) {
    const auto mask = static_cast<std::uint8_t>(0x80U >> (bit % CHAR_BIT));
    const std::size_t byte = bit / CHAR_BIT;
    if (((*bytes)[byte] & mask) != (network.address[byte] & mask)) return false;
  }
  return true;
}

std::string words_of(const std::vector<InterfaceAddress>& addresses) {
  std::vector<std::string> words;
  words.reserve(addresses.size());
  for (const auto& [interface, address] : addresses) {
    words.push_back(base::format("{} {}", interface, address));
  }
  return words.empty() ? "none" : base::format("{}", base::join(words, ", "));
}

bool is_link_local(const sockaddr* address) {
  if (address->sa_family == AF_INET6) {
    return IN6_IS_ADDR_LINKLOCAL(&reinterpret_cast<const sockaddr_in6*>(address)->sin6_addr);
  }
  const auto ip = ntohl(reinterpret_cast<const sockaddr_in*>(address)->sin_addr.s_addr);
  return (ip >> 16U) == 0xA9FEU;  // 169.254.0.0/16
}

// The IP address of an interface of this machine.
struct Seen {
  InterfaceAddress of;  // an IPv4 alias has a name of its own, "eth0:1"
  unsigned flags = 0;
  bool is_link_local = false;

  [[nodiscard]] bool is_up() const { return (flags & IFF_UP) != 0; }
};

// All of them, those that are down too; IPv4 first, else in the kernel's order.
std::vector<Seen> look() {
  ifaddrs* found = nullptr;
  if (::getifaddrs(&found) != 0) return {};
  const std::unique_ptr<ifaddrs, InterfacesFreer> list(found);
  std::vector<Seen> out;
  for (const int family : {AF_INET, AF_INET6}) {
    for (const ifaddrs* item = list.get(); item != nullptr; item = item->ifa_next) {
      if (item->ifa_addr == nullptr || item->ifa_addr->sa_family != family) continue;
      out.push_back({{item->ifa_name, numeric(item->ifa_addr)},
                     item->ifa_flags,
                     is_link_local(item->ifa_addr)});
    }
  }
  return out;
}

}  // namespace

std::vector<InterfaceAddress> interface_addresses() {
  std::vector<InterfaceAddress> out;
  for (Seen& seen : look()) {
    if (seen.is_up() && !seen.is_link_local) out.push_back(std::move(seen.of));
  }
  return out;
}

std::vector<std::string> local_addresses() {
  std::vector<std::string> out;
  for (Seen& seen : look()) {
    const bool is_loopback = (seen.flags & IFF_LOOPBACK) != 0;
    if (seen.is_up() && !is_loopback && !seen.is_link_local) {
      out.push_back(std::move(seen.of.address));
    }
  }
  return out;
}

bool has_link(std::string_view address) {
  const std::vector<Seen> all = look();
  return std::any_of(all.begin(), all.end(), [&](const Seen& seen) {
    return seen.of.address == address && seen.is_up() && (seen.flags & IFF_RUNNING) != 0;
  });
}

std::string interface_of(std::string_view address) {
  const bool is_loopback = is_loopback_address(address);
  for (const Seen& seen : look()) {
    const std::string& own = seen.of.address;
    if (own == address || (is_loopback && is_loopback_address(own))) return seen.of.interface;
  }
  return {};
}

base::Result<ChosenAddress> choose_address(const std::vector<InterfaceAddress>& addresses,
                                           const std::string& wanted) {
  GANGRUN_ASSIGN(const auto network, parse_network(wanted));
  std::vector<InterfaceAddress> fitting;
  for (const InterfaceAddress& one : addresses) {
    const bool fits = network ? is_in(*network, one.address) : one.interface == wanted;
    if (fits) fitting.push_back(one);
  }
  if (fitting.empty()) {
    return base::invalid_argument(
        base::format("{}; allowed: an interface or network of {}",
                     network ? base::format("no interface that is up has an address in {}", wanted)
                             : base::format("no interface '{}' is up and has an address", wanted),
                     words_of(addresses)));
  }
  const InterfaceAddress& first = fitting.front();
  std::string reason = network ? base::format("of {}, in {}", first.interface, wanted)
                               : base::format("of {}", first.interface);
  if (fitting.size() > 1) {
    reason += base::format(", the first of {}: {}", fitting.size(), words_of(fitting));
  }
  return ChosenAddress{first.address, std::move(reason)};
}

base::Result<> check_wanted(const std::string& wanted) {
  const auto network = parse_network(wanted);
  return network.ok() ? base::Result<>() : base::Result<>(network.error());
}

}  // namespace gangrun::net
