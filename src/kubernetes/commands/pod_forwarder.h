#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "base/unique_fd.h"
#include "kubernetes/client.h"
#include "kubernetes/commands/pod_connection.h"
#include "net/event_loop.h"
#include "net/socket_listener.h"

namespace gangrun::kubernetes::commands {

// A port of a pod.
struct PodPort {
  std::string pod;
  std::uint16_t port = 0;
};

// A port of 127.0.0.1, each connection to which is carried to a port of a pod by the API server.
class PodForwarder {
 public:
  // `on_broken` is told why a connection could not be carried, or not to its end. `client` outlives
  // this.
  PodForwarder(net::EventLoop& loop, kubernetes::Client& client,
               std::function<void(const base::Error&)> on_broken);
  PodForwarder(const PodForwarder&) = delete;
  PodForwarder& operator=(const PodForwarder&) = delete;

  // 0: any port. The port.
  base::Result<std::uint16_t> listen(std::uint16_t port) {
    return listener_.listen_at_loopback(port);
  }
  // Sets where connections lead from now on; none: nowhere.
  void set_target(std::optional<PodPort> target) { target_ = std::move(target); }
  // Whether somebody listens there: `done` is called once, later, unless another try_once() came
  // before.
  void try_once(std::function<void(base::Result<>)> done);

 private:
  using Id = std::uint64_t;

  void on_connection(base::UniqueFd socket);
  void end(Id id, const base::Result<>& how);
  void end_try(const base::Result<>& how);
  std::unique_ptr<kubernetes::Tunnel> open(const PodPort& target,
                                           kubernetes::TunnelCallbacks callbacks);

  net::EventLoop& loop_;
  kubernetes::Client& client_;
  const std::function<void(const base::Error&)> on_broken_;
  net::SocketListener listener_;
  std::optional<PodPort> target_;
  Id next_ = 1;
  std::map<Id, PodConnection> connections_;
  // The tunnel of a try.
  std::unique_ptr<kubernetes::Tunnel> trying_;
  net::Timer settled_;
  std::function<void(base::Result<>)> tried_done_;
};

}  // namespace gangrun::kubernetes::commands
