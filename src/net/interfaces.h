#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace gangrun::net {

struct InterfaceAddress {
  std::string interface;
  std::string address;  // numeric

  friend bool operator==(const InterfaceAddress&, const InterfaceAddress&) = default;
};

// The addresses of this machine's (or network namespace's) interfaces that are up, IPv4 first, else
// in the kernel's order; without link-local ones, which mean nothing on another host.
std::vector<InterfaceAddress> interface_addresses();

// The addresses of interface_addresses() without those of loopback interfaces.
std::vector<std::string> local_addresses();

// Whether the interface with this address of ours is up and has somebody at its other end.
[[nodiscard]] bool has_link(std::string_view address);

// The interface of this machine with this address ("eth0"; of 127.0.0.2 that of 127.0.0.1); empty
// where there is none.
std::string interface_of(std::string_view address);

// An address, and in a few words why it and no other.
struct ChosenAddress {
  std::string address;
  std::string reason;

  friend bool operator==(const ChosenAddress&, const ChosenAddress&) = default;
};

// The first of `addresses` that is of the interface `wanted`, or in the network `wanted`
// ("10.0.0.0/8", "fd00::/8", or one address). The error tells what there is.
base::Result<ChosenAddress> choose_address(const std::vector<InterfaceAddress>& addresses,
                                           const std::string& wanted);
// Whether `wanted` could be one of some host's: an error where it would be a network, and is none.
base::Result<> check_wanted(const std::string& wanted);

}  // namespace gangrun::net
