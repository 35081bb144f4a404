#include "ssh/host_addresses.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>
#include <array>
#include <climits>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "base/format.h"
#include "base/strings.h"
#include "base/terminal_text.h"
#include "job/units.h"
#include "net/hosts.h"

namespace gangrun::ssh {

namespace {

using base::Result;
using Hosts = std::vector<SeenHost>;

// How many hosts a sentence names.
constexpr std::size_t kMaxNamed = 3;

bool is_one_network(const SeenHost& a, const SeenHost& b) {
  return !a.network.empty() && a.network == b.network;
}

bool has_loopback(const SeenHost& host) { return net::is_loopback_address(host.address.address); }

// How many bits at the beginning two addresses of one family have in common; 0 of two families.
std::size_t common_bits(const std::string& a, const std::string& b) {
  for (const auto& [family, bytes] :
       {std::pair(AF_INET, sizeof(in_addr)), std::pair(AF_INET6, sizeof(in6_addr))}) {
    std::array<std::uint8_t, sizeof(in6_addr)> of_a{};
    std::array<std::uint8_t, sizeof(in6_addr)> of_b{};
    if (::inet_pton(family, a.c_str(), of_a.data()) != 1 ||
        ::inet_pton(family, b.c_str(), of_b.data()) != 1) {
      continue;
    }
    std::size_t bits = 0;
    while (bits < bytes * CHAR_BIT) {
      const auto mask = static_cast<std::uint8_t>(0x80U >> (bits % CHAR_BIT));
      const std::size_t byte = bits / CHAR_BIT;
      if (((of_a[byte] ^ of_b[byte]) & mask) != 0) break;
      ++bits;
    }
    return bits;
  }
  return 0;
}

// The address of a host that ssh reached by loopback: the one of its own that is nearest to an
// address of another host.
std::string nearest_address(const SeenHost& host, const Hosts& hosts) {
  std::string nearest = host.own_addresses.front();
  std::size_t most = 0;
  for (const std::string& own : host.own_addresses) {
    for (const SeenHost& other : hosts) {
      if (has_loopback(other)) continue;
      const std::size_t bits = common_bits(own, other.address.address);
      if (bits <= most) continue;
      most = bits;
      nearest = own;
    }
  }
  return nearest;
}

const SeenHost& another_than(const SeenHost& host, const Hosts& hosts) {
  const auto other = std::find_if(hosts.begin(), hosts.end(), [&](const SeenHost& each) {
    return &each != &host && !(is_one_network(each, host) && has_loopback(each));
  });
  return other != hosts.end() ? *other : host;
}

Result<net::ChosenAddress> without_loopback(const SeenHost& host, const Hosts& hosts,
                                            const std::string& interface) {
  const std::string& other = another_than(host, hosts).name;
  const std::string what =
      base::format("host {}: its address {} ({}) is a loopback address, which host {} cannot reach",
                   host.name, host.address.address, base::their_words(host.address.reason), other);
  if (!interface.empty()) {
    return base::invalid_argument(
        base::format("interface: {}: {}; allowed: an interface or network in which all hosts "
                     "reach each other",
                     job::in_quotes(interface), what));
  }
  if (host.own_addresses.empty()) {
    return base::invalid_argument(base::format(
        "hosts: {}, and it has no other; allowed: hosts that all the others reach", what));
  }
  return net::ChosenAddress{nearest_address(host, hosts),
                            base::format("as host {} cannot reach {}, by which ssh reached it",
                                         other, host.address.address)};
}

Result<> check_distinct(const Hosts& hosts, const std::vector<net::ChosenAddress>& chosen) {
  for (std::size_t a = 0; a < hosts.size(); ++a) {
    for (std::size_t b = a + 1; b < hosts.size(); ++b) {
      if (chosen[a].address != chosen[b].address || is_one_network(hosts[a], hosts[b])) continue;
      return base::invalid_argument(base::format(
          "hosts: {} and {} are two machines with one address, {} ({}), so that neither reaches "
          "the other; allowed: an interface or network (--interface) in which each host has an "
          "address of its own",
          hosts[a].name, hosts[b].name, chosen[a].address, base::their_words(chosen[a].reason)));
    }
  }
  return {};
}

}  // namespace

SeenHost seen_host(const std::string& name, const HelloMessage& hello) {
  return {name, {hello.address, hello.address_reason}, hello.own_addresses, hello.network};
}

Result<HostAddresses> choose_addresses(const Hosts& hosts, const std::string& interface) {
  HostAddresses chosen;
  const bool is_one_machine = std::all_of(hosts.begin(), hosts.end(), [&](const SeenHost& host) {
    return has_loopback(host) && (hosts.size() == 1 || is_one_network(host, hosts.front()));
  });
  for (const SeenHost& host : hosts) {
    chosen.of_hosts.push_back(host.address);
    if (is_one_machine || !has_loopback(host)) continue;
    GANGRUN_ASSIGN(chosen.of_hosts.back(), without_loopback(host, hosts, interface));
    chosen.remarks.push_back(base::format("host {} is known to the others by its address {}, {}",
                                          host.name, chosen.of_hosts.back().address,
                                          chosen.of_hosts.back().reason));
  }
  if (is_one_machine && hosts.size() > 1) {
    const auto words = [](const SeenHost& host) {
      return base::format("{} {}", host.name, host.address.address);
    };
    chosen.remarks.push_back(
        base::format("all hosts are one machine, known by its loopback addresses ({}): good for "
                     "trials, as no other machine reaches them",
                     base::first_and_more(hosts, kMaxNamed, words)));
  }
  GANGRUN_TRY(check_distinct(hosts, chosen.of_hosts));
  return chosen;
}

}  // namespace gangrun::ssh
