#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include <cstdint>

#include "base/unique_fd.h"

namespace gangrun::process {

#ifndef IP_LOCAL_PORT_RANGE
inline constexpr int IP_LOCAL_PORT_RANGE = 51;  // Linux 6.3, not yet in every libc
#endif

struct BindOptions {
  bool reuse_address = false;
  bool reuse_port = false;
};

// Binds 0.0.0.0:port as a program would; invalid where that is refused.
inline base::UniqueFd bind_beside(std::uint16_t port, BindOptions options,
                                  std::uint32_t port_range = 0) {
  base::UniqueFd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const int one = 1;
  if (options.reuse_address) {
    ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
  }
  if (options.reuse_port) {
    ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEPORT, &one, sizeof one);
  }
  if (port_range != 0) {
    ::setsockopt(socket.get(), IPPROTO_IP, IP_LOCAL_PORT_RANGE, &port_range, sizeof port_range);
  }
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  if (::bind(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
    socket.reset();
  }
  return socket;
}

}  // namespace gangrun::process
