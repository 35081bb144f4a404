#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "base/secret.h"
#include "cluster/site.h"
#include "job/status.h"
#include "net/client.h"
#include "net/event_loop.h"
#include "net/tunnel_entrance.h"

namespace gangrun::client {

// The address of a task's agent, as its own host sees it, and the right to call it.
struct TaskAgent {
  std::string host;
  std::uint16_t port = 0;
  std::string fingerprint;
  base::Secret secret;
};

// Asks the agent itself. kUnavailable while it or the job's master may come back.
base::Result<TaskAgent> agent_of(cluster::Job& job, const job::TaskId& task);

// How connections to a port of 127.0.0.1 are carried to a task.
class TaskWay {
 public:
  virtual ~TaskWay() = default;
  // Whether it begins at the task's agent, which tells its address.
  [[nodiscard]] virtual bool has_agent() const = 0;
  // Takes what was found of the task (null: nothing) and its agent, again and again. Returns what
  // is still waited for; empty: the task can be reached. An error: it never can.
  virtual base::Result<std::string> take(const job::TaskStatus* task,
                                         const base::Result<TaskAgent>& agent) = 0;
  // The address at which the task's agent itself is reached from here.
  virtual base::Result<net::Endpoint> to_agent(const TaskAgent& agent) = 0;
  // The port of this machine, once the task can be reached.
  [[nodiscard]] virtual std::uint16_t port() const = 0;
  // Whether the task listens, once it can be reached: `done` is called once, later.
  virtual void try_once(std::function<void(base::Result<>)> done) = 0;
};

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
