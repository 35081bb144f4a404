#include "net/hosts.h"

#include <netdb.h>
#include <nss.h>
#include <resolv.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstring>
#include <memory>

#include "base/format.h"
#include "base/unique_fd.h"
#include "net/address_internal.h"

namespace gangrun::net {

namespace {

constexpr std::size_t kMaxHostNameBytes = 253;
constexpr int kMaxNameServerWaitSeconds = 5;

struct AddressesFreer {
  void operator()(addrinfo* list) const { ::freeaddrinfo(list); }
};

// The name service has no deadline of its own; the resolver of this thread gets one try per name
// server, short enough for the deadline.
void limit_name_servers(base::Instant deadline) {
  const auto left =
      std::chrono::ceil<std::chrono::seconds>(deadline - std::chrono::steady_clock::now());
  if (::res_init() != 0) return;
  const int servers = std::max(1, _res.nscount);
  _res.retrans = std::clamp(static_cast<int>(left.count()) / servers, 1, kMaxNameServerWaitSeconds);
  _res.retry = 1;
}

std::string reason(int error, const std::string& host) {
  switch (error) {
    case EAI_NONAME:
      return base::format("the host name \"{}\" does not resolve: no such name", host);
    case EAI_AGAIN:
      return base::format("the host name \"{}\" does not resolve: no name server answers", host);
    default:
      return base::format("the host name \"{}\" does not resolve: {}", host, ::gai_strerror(error));
  }
}

}  // namespace

void use_static_name_service() { ::__nss_configure_lookup("hosts", "files dns"); }

base::Result<std::vector<std::string>> resolve(const std::string& host, base::Instant deadline) {
  if (is_numeric_address(host)) return std::vector<std::string>{host};
  if (host.empty() || host.size() > kMaxHostNameBytes || host.find('\0') != std::string::npos) {
    return base::invalid_argument(
        base::format("the host name \"{}\" must have 1 to {} bytes", host, kMaxHostNameBytes));
  }
  if (std::chrono::steady_clock::now() >= deadline) {
    return base::deadline_exceeded(base::format("no time left to resolve the host \"{}\"", host));
  }
  limit_name_servers(deadline);
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int error = ::getaddrinfo(host.c_str(), nullptr, &hints, &found);
  const std::unique_ptr<addrinfo, AddressesFreer> list(found);
  if (error != 0) {
    const bool unknown = error == EAI_NONAME || error == EAI_NODATA;
    return base::Error{unknown ? base::Code::kNotFound : base::Code::kUnavailable,
                       reason(error, host)};
  }
  std::vector<std::string> out;
  for (const addrinfo* item = list.get(); item != nullptr; item = item->ai_next) {
    std::string address = numeric(item->ai_addr);
    if (std::find(out.begin(), out.end(), address) == out.end()) out.push_back(std::move(address));
  }
  return out;
}

std::string host_name() {
  std::array<char, HOST_NAME_MAX + 1> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0) return "localhost";
  return name.data();
}

bool is_numeric_address(std::string_view text) {
  return ip_address(std::string(text), 0).has_value();
}

bool is_loopback_address(std::string_view address) {
  return address == "::1" || (address.starts_with("127.") && is_numeric_address(address));
}

base::Result<std::string> local_address_toward(const std::string& address) {
  GANGRUN_ASSIGN(const SocketAddress target, ip_address(address, 9));
  const base::UniqueFd fd(::socket(target.family(), SOCK_DGRAM | SOCK_CLOEXEC, 0));
  sockaddr_storage own{};
  socklen_t size = sizeof own;
  // Connecting a datagram socket only chooses the route.
  if (!fd.valid() || ::connect(fd.get(), target.get(), target.size) != 0 ||
      ::getsockname(fd.get(), reinterpret_cast<sockaddr*>(&own), &size) != 0) {
    return base::from_errno(errno, base::format("find a route to {}", address));
  }
  return numeric(reinterpret_cast<const sockaddr*>(&own));
}

std::string host_port(std::string_view host, int port) {
  if (host.find(':') != std::string_view::npos) return base::format("[{}]:{}", host, port);
  return base::format("{}:{}", host, port);
}

}  // namespace gangrun::net
