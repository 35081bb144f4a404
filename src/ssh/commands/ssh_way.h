#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/unique_fd.h"
#include "client/task_way.h"
#include "net/event_loop.h"
#include "net/socket_listener.h"
#include "process/child.h"
#include "ssh/ssh_command.h"

namespace gangrun::ssh::commands {

// The way to a task's agent where only ssh leads to it: each connection is carried by an ssh of its
// own (`ssh -W`) to a host of the job, and from there to the agent.
class SshWay final : public client::TaskWay {
 public:
  // `hosts`: any of them leads to all; one that fails makes way for the next.
  SshWay(net::EventLoop& loop, std::vector<std::string> hosts, std::string ssh_config,
         std::uint16_t port, std::function<void(const base::Error&)> on_broken);

  [[nodiscard]] bool has_agent() const override { return true; }
  base::Result<std::string> take(const job::TaskStatus* task,
                                 const base::Result<client::TaskAgent>& agent) override;
  base::Result<net::Endpoint> to_agent(const client::TaskAgent& agent) override;
  [[nodiscard]] std::uint16_t port() const override { return way_.port(); }
  void try_once(std::function<void(base::Result<>)> done) override {
    way_.try_once(std::move(done));
  }

 private:
  struct Carrier {
    process::Child ssh;
    base::UniqueFd errors;
    base::UniqueFd connection;  // until we know that ssh took it
    net::Watch ended;
  };

  base::Result<client::TaskAgent> through_ssh(const client::TaskAgent& agent);
  void carry(base::UniqueFd connection);
  void on_ended(std::uint64_t id);

  net::EventLoop& loop_;
  const std::vector<std::string> hosts_;
  ssh::SshCall call_;
  const std::function<void(const base::Error&)> on_broken_;
  std::size_t host_ = 0;
  std::string agent_host_;
  std::uint16_t agent_port_ = 0;
  std::uint16_t entrance_port_ = 0;  // 0: it does not listen yet
  net::SocketListener entrance_;
  std::uint64_t next_ = 1;
  std::map<std::uint64_t, Carrier> carriers_;
  client::AgentWay way_;
};

}  // namespace gangrun::ssh::commands
