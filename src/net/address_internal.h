#pragma once

#include <sys/socket.h>

#include <cstdint>
#include <string>

#include "base/result.h"
#include "base/unique_fd.h"

namespace gangrun::net {

// Any socket address, as the kernel wants it.
struct SocketAddress {
  sockaddr_storage storage{};
  socklen_t size = 0;
  base::UniqueFd
      folder;  // of a Unix socket with a long path: must stay open while the address is used

  [[nodiscard]] const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }
  [[nodiscard]] int family() const { return storage.ss_family; }
};

// `address` is numeric, IPv4 or IPv6.
base::Result<SocketAddress> ip_address(const std::string& address, std::uint16_t port);

// An IPv4 or IPv6 address without its port, as text; "" for others.
std::string numeric(const sockaddr* address);

// A path longer than what fits into a socket address is reached through its opened folder.
base::Result<SocketAddress> unix_address(const std::string& path);

[[nodiscard]] std::uint16_t port_of(const sockaddr_storage& address);

// "10.0.0.7:4711"; "" for others than IP addresses.
std::string to_string(const SocketAddress& address);

}  // namespace gangrun::net
