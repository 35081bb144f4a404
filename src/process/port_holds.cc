#include "process/port_holds.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/check.h"
#include "base/format.h"
#include "process/listeners.h"

namespace gangrun::process {

namespace {

// If the kernel has no IPv6, the first cannot be held.
constexpr std::array kAllAddresses = {"::", "0.0.0.0"};

template <typename Take>
base::Result<PortHold> on_all_addresses(Take take) {
  base::Result<PortHold> held = take(kAllAddresses[0]);
  if (held.ok() || held.error().code == base::Code::kUnavailable) return held;
  return take(kAllAddresses[1]);
}

base::Result<PortHold> hold_any() {
  return on_all_addresses([](const char* address) { return PortHold::any(address); });
}

base::Result<PortHold> hold_exactly(std::uint16_t port) {
  return on_all_addresses([&](const char* address) { return PortHold::exactly(address, port); });
}

struct Address {
  sockaddr_storage storage{};
  socklen_t length = 0;
};

base::Result<Address> parse_address(const std::string& text, std::uint16_t port) {
  Address address;
  sockaddr_in v4{};
  sockaddr_in6 v6{};
  if (::inet_pton(AF_INET, text.c_str(), &v4.sin_addr) == 1) {
    v4.sin_family = AF_INET;
    v4.sin_port = htons(port);
    std::memcpy(&address.storage, &v4, sizeof v4);
    address.length = sizeof v4;
  } else if (::inet_pton(AF_INET6, text.c_str(), &v6.sin6_addr) == 1) {
    v6.sin6_family = AF_INET6;
    v6.sin6_port = htons(port);
    std::memcpy(&address.storage, &v6, sizeof v6);
    address.length = sizeof v6;
  } else {
    return base::invalid_argument(
        fmt::format("'{}' is not a numeric address such as 0.0.0.0 or ::", text));
  }
  return address;
}

base::Result<base::UniqueFd> bound_socket(const std::string& address, std::uint16_t port) {
  GANGRUN_ASSIGN(const Address parsed, parse_address(address, port));
  const std::string attempted = port == 0 ? fmt::format("cannot hold a port on {}", address)
                                          : fmt::format("cannot hold port {} on {}", port, address);
  base::UniqueFd socket(::socket(parsed.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!socket.valid()) return base::from_errno(errno, attempted);
  const auto set = [&](int level, int option, int value) {
    return ::setsockopt(socket.get(), level, option, &value, sizeof value) == 0;
  };
  if (!set(SOL_SOCKET, SO_REUSEADDR, 1) || !set(SOL_SOCKET, SO_REUSEPORT, 1)) {
    return base::from_errno(errno, attempted);
  }
  if (parsed.storage.ss_family == AF_INET6 && !set(IPPROTO_IPV6, IPV6_V6ONLY, 0)) {
    return base::from_errno(errno, attempted);
  }
  if (::bind(socket.get(), reinterpret_cast<const sockaddr*>(&parsed.storage), parsed.length) !=
      0) {
    if (errno == EADDRINUSE) {
      return base::unavailable(fmt::format("{}: it is in use", attempted));
    }
    return base::from_errno(errno, attempted);
  }
  return socket;
}

base::Result<std::uint16_t> port_of(int socket) {
  sockaddr_storage bound{};
  socklen_t length = sizeof bound;
  if (::getsockname(socket, reinterpret_cast<sockaddr*>(&bound), &length) != 0) {
    return base::from_errno(errno, "getsockname");
  }
  // The port has the same place in both.
  sockaddr_in v4{};
  std::memcpy(&v4, &bound, sizeof v4);
  return ntohs(v4.sin_port);
}

}  // namespace

base::Result<PortHolds> PortHolds::take(int count, std::optional<std::uint16_t> wanted) {
  GANGRUN_CHECK(count > 0, count);
  PortHolds all;
  if (wanted) {
    auto held = hold_exactly(*wanted);
    if (held.ok()) {
      all.holds_.push_back(*std::move(held));
    } else {
      all.not_wanted_because_ = held.error().message;
    }
  }
  while (all.holds_.size() < static_cast<std::size_t>(count)) {
    GANGRUN_ASSIGN(PortHold held, hold_any());
    all.holds_.push_back(std::move(held));
  }
  for (const PortHold& hold : all.holds_) all.numbers_.push_back(hold.port());
  return all;
}

// Ports that are held already are not given out again, so more are taken than are kept.
base::Result<PortHolds> PortHolds::others() const {
  const std::size_t count = numbers_.size();
  GANGRUN_ASSIGN(PortHolds more, take(static_cast<int>(2 * count), std::nullopt));
  PortHolds others;
  for (PortHold& hold : more.holds_) {
    const bool is_other =
        std::find(numbers_.begin(), numbers_.end(), hold.port()) == numbers_.end();
    if (!is_other || others.holds_.size() == count) continue;
    others.numbers_.push_back(hold.port());
    others.holds_.push_back(std::move(hold));
  }
  return others;
}

std::vector<int> PortHolds::fds() const {
  std::vector<int> fds;
  for (const PortHold& hold : holds_) fds.push_back(hold.fd());
  return fds;
}

base::Result<> PortHolds::hold_again() {
  std::vector<PortHold> holds;
  for (const std::uint16_t port : numbers_) {
    GANGRUN_ASSIGN(PortHold held, hold_exactly(port));
    holds.push_back(std::move(held));
  }
  holds_ = std::move(holds);
  return {};
}

base::Result<PortHold> PortHold::any(const std::string& address) {
  GANGRUN_ASSIGN(base::UniqueFd socket, bound_socket(address, 0));
  GANGRUN_ASSIGN(const std::uint16_t port, port_of(socket.get()));
  return PortHold(std::move(socket), port);
}

base::Result<PortHold> PortHold::exactly(const std::string& address, std::uint16_t port) {
  if (port == 0) return base::invalid_argument("port 0 is not a port that can be held");
  auto socket = bound_socket(address, port);
  if (!socket.ok() && socket.error().code != base::Code::kUnavailable) return socket.error();
  // Binding succeeds beside a listener of ours that set SO_REUSEPORT, but then the two would share
  // its connections. Without the table (a host that hides it) the bind's word has to do.
  const auto listeners = listeners_on(port);
  if (listeners.ok() && !listeners->empty()) {
    return base::unavailable(fmt::format("cannot hold port {} on {}: {} listens on it", port,
                                         address, owner_of(listeners->front()).words));
  }
  if (!socket.ok()) return socket.error();
  return PortHold(*std::move(socket), port);
}

}  // namespace gangrun::process
