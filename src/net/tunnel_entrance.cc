#include "net/tunnel_entrance.h"

#include <utility>

#include "base/format.h"

namespace gangrun::net {

TunnelEntrance::TunnelEntrance(EventLoop& loop, base::Secret secret,
                               std::function<void(const base::Error&)> on_broken)
    : loop_(loop),
      secret_(std::move(secret)),
      on_broken_(std::move(on_broken)),
      listener_(loop, [this](base::UniqueFd socket) { on_connection(std::move(socket)); }) {}

TunnelEntrance::~TunnelEntrance() = default;

Call TunnelEntrance::connect(
    std::function<void(base::Result<std::unique_ptr<Channel>>)> on_done) const {
  return connect_channel(
      loop_, *agent_, std::string(kTunnelPath), {{"Authorization", "Bearer " + secret_.reveal()}},
      loop_.now() + kTunnelConnectTimeout, std::move(on_done), tunnel_channel_options());
}

void TunnelEntrance::on_connection(base::UniqueFd socket) {
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
  connections_[id].connecting = connect([this, id](base::Result<std::unique_ptr<Channel>> channel) {
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
  trying_ = connect([this, tell](base::Result<std::unique_ptr<Channel>> channel) {
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

}  // namespace gangrun::net
