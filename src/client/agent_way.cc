#include "client/agent_way.h"

#include <utility>

namespace gangrun::client {

namespace {

constexpr const char* kLoopback = "127.0.0.1";

}  // namespace

base::Result<std::string> AgentWay::take(const job::TaskStatus* task,
                                         const base::Result<cluster::TunnelAgent>& agent) {
  if (!agent.ok()) {
    if (agent.error().code == base::Code::kPermissionDenied) return agent.error();
    return agent.error().message;
  }
  GANGRUN_TRY(open_entrance(agent->secret));
  ports_.clear();
  if (task != nullptr) {
    for (const job::TaskPort& port : task->ports) ports_.push_back(port.port);
  }
  GANGRUN_ASSIGN(net::Endpoint exit, exit_of(*agent));
  entrance_->set_agent(std::move(exit));
  return std::string();
}

base::Result<> AgentWay::open_entrance(const base::Secret& secret) {
  if (entrance_) return {};
  entrance_ = std::make_unique<net::TunnelEntrance>(loop_, secret, on_broken_);
  GANGRUN_ASSIGN(port_, entrance_->listen(wanted_port_).context("--port"));
  return {};
}

// The end of the tunnel beside the task: its agent, or where the task is beside us, we ourselves.
base::Result<net::Endpoint> AgentWay::exit_of(const cluster::TunnelAgent& agent) {
  if (!agent.is_beside_us) return net::Endpoint::on_tls(agent.host, agent.port, agent.fingerprint);
  if (!own_exit_) {
    const auto nobody_calls = [](const job::Address&) {};
    exit_ = std::make_unique<registry::ControlServer>(loop_, agent.secret, nobody_calls, *logger_);
    exit_->serve_tunnels([this] { return ports_; });
    GANGRUN_ASSIGN(const registry::ControlAddress address, exit_->listen(kLoopback));
    own_exit_ = net::Endpoint::on_tls(kLoopback, address.port, address.fingerprint);
  }
  return *own_exit_;
}

}  // namespace gangrun::client
