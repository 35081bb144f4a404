#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/un.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "base/format.h"
#include "net/address_internal.h"
#include "net/hosts.h"

namespace gangrun::net {

namespace {

constexpr std::size_t kMaxUnixPathBytes = sizeof(sockaddr_un::sun_path) - 1;

template <typename T>
SocketAddress from(const T& address, std::size_t size) {
  SocketAddress out;
  std::memcpy(&out.storage, &address, size);
  out.size = static_cast<socklen_t>(size);
  return out;
}

SocketAddress from_short_path(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.data(), path.size());
  return from(address, offsetof(sockaddr_un, sun_path) + path.size() + 1);
}

}  // namespace

base::Result<SocketAddress> ip_address(const std::string& address, std::uint16_t port) {
  sockaddr_in v4{};
  v4.sin_family = AF_INET;
  v4.sin_port = htons(port);
  if (::inet_pton(AF_INET, address.c_str(), &v4.sin_addr) == 1) return from(v4, sizeof v4);
  sockaddr_in6 v6{};
  v6.sin6_family = AF_INET6;
  v6.sin6_port = htons(port);
  if (::inet_pton(AF_INET6, address.c_str(), &v6.sin6_addr) == 1) return from(v6, sizeof v6);
  return base::invalid_argument(base::format("\"{}\" is not a numeric IP address", address));
}

base::Result<SocketAddress> unix_address(const std::string& path) {
  if (path.empty() || path.find('\0') != std::string::npos) {
    return base::invalid_argument("the path of a socket must not be empty or have a NUL byte");
  }
  if (path.size() <= kMaxUnixPathBytes) return from_short_path(path);
  const std::size_t slash = path.rfind('/');
  const std::string parent = slash == 0 ? "/" : path.substr(0, slash);
  base::UniqueFd folder(::open(parent.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (slash == std::string::npos || !folder.valid()) {
    return base::from_errno(slash == std::string::npos ? ENAMETOOLONG : errno,
                            base::format("open the folder of the socket {}", path));
  }
  const std::string short_path =
      base::format("/proc/self/fd/{}/{}", folder.get(), path.substr(slash + 1));
  if (short_path.size() > kMaxUnixPathBytes) {
    return base::invalid_argument(base::format(
        "the file name of the socket {} is too long: a socket's path has at most {} bytes", path,
        kMaxUnixPathBytes));
  }
  SocketAddress out = from_short_path(short_path);
  out.folder = std::move(folder);
  return out;
}

std::uint16_t port_of(const sockaddr_storage& address) {
  if (address.ss_family == AF_INET6) {
    return ntohs(reinterpret_cast<const sockaddr_in6&>(address).sin6_port);
  }
  return ntohs(reinterpret_cast<const sockaddr_in&>(address).sin_port);
}

std::string numeric(const sockaddr* address) {
  const void* bytes = nullptr;
  if (address->sa_family == AF_INET) {
    bytes = &reinterpret_cast<const sockaddr_in*>(address)->sin_addr;
  } else if (address->sa_family == AF_INET6) {
    bytes = &reinterpret_cast<const sockaddr_in6*>(address)->sin6_addr;
  } else {
    return {};
  }
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (::inet_ntop(address->sa_family, bytes, text.data(), text.size()) == nullptr) return {};
  return text.data();
}

std::string to_string(const SocketAddress& address) {
  const std::string host = numeric(address.get());
  return host.empty() ? host : host_port(host, port_of(address.storage));
}

}  // namespace gangrun::net
