#include "hadoop/blocking_socket.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <system_error>
#include <utility>
#include <vector>

#include "base/format.h"
#include "net/hosts.h"

namespace gangrun::hadoop {

namespace {

constexpr std::size_t kPieceBytes = std::size_t{64} << 10U;

base::Error failed(int error_number, std::string_view what) {
  return base::unavailable(
      base::format("{}: {}", what, std::generic_category().message(error_number)));
}

// Waits until the socket can do one of `events`, or has failed.
base::Result<> wait_for(int fd, short events, base::Instant deadline, std::string_view what) {
  while (true) {
    const auto left = std::chrono::ceil<base::milliseconds>(deadline - base::SystemClock().now());
    pollfd entry{.fd = fd, .events = events, .revents = 0};
    const int ready =
        ::poll(&entry, 1, static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, 60'000)));
    if (ready > 0) return {};
    if (ready < 0 && errno != EINTR) return failed(errno, what);
    if (ready == 0 && left.count() <= 60'000) {
      return base::deadline_exceeded(base::format("{}: no answer in time", what));
    }
  }
}

struct NativeAddress {
  sockaddr_storage storage{};
  socklen_t size = 0;
};

NativeAddress native_address(const std::string& text, int port) {
  NativeAddress address;
  sockaddr_in four{};
  sockaddr_in6 six{};
  if (::inet_pton(AF_INET, text.c_str(), &four.sin_addr) == 1) {
    four.sin_family = AF_INET;
    four.sin_port = htons(static_cast<std::uint16_t>(port));
    std::memcpy(&address.storage, &four, sizeof four);
    address.size = sizeof four;
  } else if (::inet_pton(AF_INET6, text.c_str(), &six.sin6_addr) == 1) {
    six.sin6_family = AF_INET6;
    six.sin6_port = htons(static_cast<std::uint16_t>(port));
    std::memcpy(&address.storage, &six, sizeof six);
    address.size = sizeof six;
  }
  return address;
}

}  // namespace

base::Result<BlockingSocket> BlockingSocket::connect_to(const std::string& address, int port,
                                                        base::Instant deadline) {
  const std::string what = base::format("connect to {}", net::host_port(address, port));
  const NativeAddress native = native_address(address, port);
  base::UniqueFd fd(
      ::socket(native.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, IPPROTO_TCP));
  if (!fd.valid()) return failed(errno, what);
  const int on = 1;
  ::setsockopt(fd.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  ::setsockopt(fd.get(), SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
  const auto* const target = reinterpret_cast<const sockaddr*>(&native.storage);
  if (::connect(fd.get(), target, native.size) != 0) {
    if (errno != EINPROGRESS) return failed(errno, what);
    GANGRUN_TRY(wait_for(fd.get(), POLLOUT, deadline, what));
    int error_number = 0;
    socklen_t size = sizeof error_number;
    ::getsockopt(fd.get(), SOL_SOCKET, SO_ERROR, &error_number, &size);
    if (error_number != 0) return failed(error_number, what);
  }
  return BlockingSocket(std::move(fd));
}

base::Result<BlockingSocket> BlockingSocket::connect(const std::string& host, int port,
                                                     base::Instant deadline) {
  if (port < 1 || port > 65535) {
    return base::unavailable(base::format("{} is not a port", port));
  }
  GANGRUN_ASSIGN(const std::vector<std::string> addresses, net::resolve(host, deadline));
  base::Error last = base::unavailable(base::format("{} has no address", host));
  for (std::size_t i = 0; i < addresses.size(); ++i) {
    // One that swallows everything must not use up the time of those after it.
    const base::Instant now = base::SystemClock().now();
    const base::Duration share = (deadline - now) / static_cast<std::int64_t>(addresses.size() - i);
    base::Result<BlockingSocket> socket =
        connect_to(addresses[i], port, i + 1 == addresses.size() ? deadline : now + share);
    if (socket.ok()) return socket;
    last = socket.error();
  }
  return last;
}

base::Result<> BlockingSocket::send(std::string_view bytes, base::Instant deadline) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(fd_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent >= 0) {
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      GANGRUN_TRY(wait_for(fd_.get(), POLLOUT, deadline, "send"));
    } else if (errno != EINTR) {
      return failed(errno, "send");
    }
  }
  return {};
}

base::Result<std::string> BlockingSocket::receive(base::Instant deadline) {
  std::string piece(kPieceBytes, '\0');
  while (true) {
    const ssize_t got = ::recv(fd_.get(), piece.data(), piece.size(), 0);
    if (got > 0) {
      piece.resize(static_cast<std::size_t>(got));
      return piece;
    }
    if (got == 0) return base::unavailable("it has closed the connection");
    if (errno == EAGAIN || errno == EWOULDBLOCK) {
      GANGRUN_TRY(wait_for(fd_.get(), POLLIN, deadline, "receive"));
    } else if (errno != EINTR) {
      return failed(errno, "receive");
    }
  }
}

}  // namespace gangrun::hadoop
