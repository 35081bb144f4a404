#include "net/socket_listener.h"

#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <string_view>
#include <utility>

#include "base/format.h"

namespace gangrun::net {

namespace {

// All agents of a job may come at once. The kernel may allow fewer (net.core.somaxconn).
constexpr int kMaxWaiting = 4096;
// Without a free descriptor nothing can be accepted, and the socket stays readable.
constexpr std::chrono::milliseconds kRetryPause(100);

base::Result<sockaddr_un> address_of_path(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof(address.sun_path)) {
    return base::invalid_argument(base::format("{} is too long for a socket; allowed: {} bytes",
                                               path, sizeof(address.sun_path) - 1));
  }
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  return address;
}

base::Result<base::UniqueFd> new_socket(int family) {
  base::UniqueFd fd(::socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd.valid()) return base::from_errno(errno, "socket");
  return fd;
}

// `address` gets the port.
template <typename SocketAddress>
base::Result<base::UniqueFd> listening_at(SocketAddress& address, std::string_view words) {
  GANGRUN_ASSIGN(base::UniqueFd fd, new_socket(reinterpret_cast<sockaddr&>(address).sa_family));
  socklen_t size = sizeof address;
  auto* const generic = reinterpret_cast<sockaddr*>(&address);
  const int on = 1;
  if (::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0 ||
      ::bind(fd.get(), generic, size) != 0 || ::listen(fd.get(), kMaxWaiting) != 0 ||
      ::getsockname(fd.get(), generic, &size) != 0) {
    return base::from_errno(errno, base::format("listen on {}", words));
  }
  return fd;
}

sockaddr_in address_of_port(in_addr_t host, std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(host);
  return address;
}

}  // namespace

SocketListener::SocketListener(EventLoop& loop, std::function<void(base::UniqueFd)> on_connection)
    : loop_(loop), on_connection_(std::move(on_connection)) {}

base::Result<std::uint16_t> SocketListener::listen_at_loopback(std::uint16_t port) {
  sockaddr_in address = address_of_port(INADDR_LOOPBACK, port);
  GANGRUN_ASSIGN(socket_, listening_at(address, base::format("127.0.0.1:{}", port)));
  accept_from_now_on();
  return ntohs(address.sin_port);
}

base::Result<std::uint16_t> SocketListener::listen_at_all(std::uint16_t port) {
  const std::string words = base::format("port {}", port);
  // It takes IPv4's connections too, unless the machine's settings (net.ipv6.bindv6only) say no.
  sockaddr_in6 both{};
  both.sin6_family = AF_INET6;
  both.sin6_port = htons(port);
  both.sin6_addr = in6addr_any;
  auto socket = listening_at(both, words);
  int only_6 = 0;
  socklen_t size = sizeof only_6;
  const bool takes_both =
      socket.ok() && ::getsockopt(socket->get(), IPPROTO_IPV6, IPV6_V6ONLY, &only_6, &size) == 0 &&
      only_6 == 0;
  if (takes_both) {
    socket_ = *std::move(socket);
    accept_from_now_on();
    return ntohs(both.sin6_port);
  }
  sockaddr_in address = address_of_port(INADDR_ANY, port);
  GANGRUN_ASSIGN(socket_, listening_at(address, words));
  accept_from_now_on();
  return ntohs(address.sin_port);
}

base::Result<> SocketListener::listen_at_path(const std::string& path) {
  GANGRUN_ASSIGN(const sockaddr_un address, address_of_path(path));
  GANGRUN_ASSIGN(socket_, new_socket(AF_UNIX));
  if (::unlink(path.c_str()) != 0 && errno != ENOENT) {
    return base::from_errno(errno, base::format("unlink {}", path));
  }
  // The folder is ours alone, so nobody else comes before the mode is set.
  if (::bind(socket_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      ::chmod(path.c_str(), 0600) != 0 || ::listen(socket_.get(), kMaxWaiting) != 0) {
    return base::from_errno(errno, base::format("listen at {}", path));
  }
  accept_from_now_on();
  return {};
}

void SocketListener::accept_from_now_on() {
  watch_ = loop_.watch_readable(socket_.get(), [this] { on_readable(); });
}

void SocketListener::on_readable() {
  base::UniqueFd socket(::accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (socket.valid()) return on_connection_(std::move(socket));
  if (errno == EAGAIN || errno == ECONNABORTED || errno == EINTR) return;
  watch_.reset();
  pause_ = loop_.after(kRetryPause, [this] { accept_from_now_on(); });
}

base::Result<base::UniqueFd> connect_to_path(const std::string& path) {
  GANGRUN_ASSIGN(const sockaddr_un address, address_of_path(path));
  GANGRUN_ASSIGN(base::UniqueFd fd, new_socket(AF_UNIX));
  if (::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    return base::from_errno(errno, base::format("connect to {}", path));
  }
  return fd;
}

}  // namespace gangrun::net
