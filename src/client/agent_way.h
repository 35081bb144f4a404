#pragma once

#include <memory>

#include "client/task_way.h"
#include "net/client.h"
#include "net/event_loop.h"
#include "net/tunnel_entrance.h"

namespace gangrun::client {

// The way to a task by tunnels of its agent.
class AgentWay final : public TaskWay {
 public:
  // `wanted_port` 0: any. `on_broken` is told why a connection broke.
  AgentWay(net::EventLoop& loop, std::uint16_t wanted_port,
           std::function<void(const base::Error&)> on_broken)
      : loop_(loop), wanted_port_(wanted_port), on_broken_(std::move(on_broken)) {}

  [[nodiscard]] bool has_agent() const override { return true; }
  base::Result<std::string> take(const job::TaskStatus* task,
                                 const base::Result<TaskAgent>& agent) override;
  base::Result<net::Endpoint> to_agent(const TaskAgent& agent) override {
    return net::Endpoint::on_tls(agent.host, agent.port, agent.fingerprint);
  }
  [[nodiscard]] std::uint16_t port() const override { return port_; }
  void try_once(std::function<void(base::Result<>)> done) override {
    entrance_->try_once(std::move(done));
  }

 private:
  base::Result<> open_entrance(const base::Secret& secret);

  net::EventLoop& loop_;
  const std::uint16_t wanted_port_;
  const std::function<void(const base::Error&)> on_broken_;
  std::uint16_t port_ = 0;
  std::unique_ptr<net::TunnelEntrance> entrance_;
};

}  // namespace gangrun::client
