#include "registry/tunnel_entrance.h"

#include <netinet/in.h>
#include <sys/socket.h>

#include <cerrno>
#include <chrono>
#include <utility>

#include "base/format.h"
#include "registry/paths.h"

namespace gangrun::registry {

namespace {

constexpr int kMaxWaiting = 128;
// Without a free descriptor nothing can be accepted, and the socket stays readable.
constexpr std::chrono::milliseconds kAcceptPause(100);

}  // namespace

TunnelEntrance::TunnelEntrance(net::EventLoop& loop, base::Secret secret,
                               std::function<void(const base::Error&)> on_broken)
    : loop_(loop), secret_(std::move(secret)), on_broken_(std::move(on_broken)) {}

TunnelEntrance::~TunnelEntrance() = default;

base::Result<std::uint16_t> TunnelEntrance::listen(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* const generic = reinterpret_cast<sockaddr*>(&address);
  const int on = 1;
  listener_.reset(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!listener_.valid() ||
      ::setsockopt(listener_.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0 ||
      ::bind(listener_.get(), generic, size) != 0 || ::listen(listener_.get(), kMaxWaiting) != 0 ||
      ::getsockname(listener_.get(), generic, &size) != 0) {
    return base::from_errno(errno, base::format("listen on 127.0.0.1:{}", port));
  }
  watch_ = loop_.watch_readable(listener_.get(), [this] { on_connection(); });
  return ntohs(address.sin_port);
}

net::Connecting TunnelEntrance::connect(
    std::function<void(base::Result<std::unique_ptr<net::Channel>>)> on_done) const {
  return net::connect_channel(
      loop_, *agent_, std::string(kTunnelPath), {{"Authorization", "Bearer " + secret_.reveal()}},
      loop_.now() + kTunnelConnectTimeout, std::move(on_done), tunnel_channel_options());
}

void TunnelEntrance::on_connection() {
  base::UniqueFd socket(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (!socket.valid()) {
    if (errno == EAGAIN || errno == ECONNABORTED || errno == EINTR) return;
    watch_.reset();
    pause_ = loop_.after(kAcceptPause, [this] {
      watch_ = loop_.watch_readable(listener_.get(), [this] { on_connection(); });
    });
    return;
  }
  if (connections_.size() >= kMaxTunnels) {
    return on_broken_({base::Code::kResourceExhausted,
                       base::format("{} connections are open already", kMaxTunnels)});
  }
  if (!agent_) return on_broken_(base::unavailable("the task has no agent yet"));
  const Id id = next_++;
  connections_[id].socket = std::move(socket);
  open(id);
}

void TunnelEntrance::open(Id id) {
  connections_[id].connecting =
      connect([this, id](base::Result<std::unique_ptr<net::Channel>> channel) {
        Connection& connection = connections_.at(id);
        if (!channel.ok()) return end(id, channel.error());
        connection.tunnel = std::make_unique<Tunnel>(
            loop_, Tunnel::Side::kEntrance, std::move(connection.socket), *std::move(channel),
            [this, id](const base::Result<>& how) { end(id, how); });
      });
}

void TunnelEntrance::end(Id id, const base::Result<>& how) {
  connections_.erase(id);
  if (!how.ok()) on_broken_(how.error());
}

void TunnelEntrance::try_once(std::function<void(base::Result<>)> done) {
  tried_done_ = std::move(done);
  tried_.reset();
  const auto tell = [this](const base::Result<>& how) {
    const auto told = std::exchange(tried_done_, nullptr);
    if (told) told(how);
  };
  trying_ = connect([this, tell](base::Result<std::unique_ptr<net::Channel>> channel) {
    if (!channel.ok()) return tell(channel.error());
    tried_ = *std::move(channel);
    tried_->on_closed([tell](const base::Error& reason) { tell(reason); });
    // The first one says that the agent is connected.
    tried_->on_message([this, tell](std::string_view) {
      tried_.reset();
      tell({});
    });
  });
}

}  // namespace gangrun::registry
