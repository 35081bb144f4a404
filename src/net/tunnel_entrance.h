#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>

#include "base/result.h"
#include "base/secret.h"
#include "base/unique_fd.h"
#include "net/client.h"
#include "net/event_loop.h"
#include "net/socket_listener.h"
#include "net/tunnel.h"

namespace gangrun::net {

// The user's end of a task's tunnels: a port of 127.0.0.1, each connection to which is carried to
// the task's agent, and from there to the task's port.
class TunnelEntrance {
 public:
  // `on_broken` is told why a connection could not be carried, or not to its end.
  TunnelEntrance(EventLoop& loop, base::Secret secret,
                 std::function<void(const base::Error&)> on_broken);
  TunnelEntrance(const TunnelEntrance&) = delete;
  TunnelEntrance& operator=(const TunnelEntrance&) = delete;
  ~TunnelEntrance();

  // 0: any port. The port.
  base::Result<std::uint16_t> listen(std::uint16_t port) {
    return listener_.listen_at_loopback(port);
  }
  // The control address of the task's agent, from now on.
  void set_agent(Endpoint agent) { agent_ = std::move(agent); }
  // Whether the task listens: `done` is called once, later, unless another try() came before.
  void try_once(std::function<void(base::Result<>)> done);

 private:
  using Id = std::uint64_t;
  struct Connection {
    base::UniqueFd socket;  // until there is a tunnel
    Call connecting;
    std::unique_ptr<Tunnel> tunnel;
  };

  void on_connection(base::UniqueFd socket);
  void open(Id id);
  void end(Id id, const base::Result<>& how);
  Call connect(std::function<void(base::Result<std::unique_ptr<Channel>>)> on_done) const;

  EventLoop& loop_;
  const base::Secret secret_;
  const std::function<void(const base::Error&)> on_broken_;
  std::optional<Endpoint> agent_;
  SocketListener listener_;
  Id next_ = 1;
  std::map<Id, Connection> connections_;
  // The state of a try.
  Call trying_;
  std::unique_ptr<Channel> tried_;
  std::function<void(base::Result<>)> tried_done_;
};

}  // namespace gangrun::net
