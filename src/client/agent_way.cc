#include "client/agent_way.h"

#include <utility>

namespace gangrun::client {

base::Result<std::string> AgentWay::take(const job::TaskStatus* /*task*/,
                                         const base::Result<TaskAgent>& agent) {
  if (!agent.ok()) {
    if (agent.error().code == base::Code::kPermissionDenied) return agent.error();
    return agent.error().message;
  }
  GANGRUN_TRY(open_entrance(agent->secret));
  GANGRUN_ASSIGN(net::Endpoint exit, to_agent(*agent));
  entrance_->set_agent(std::move(exit));
  return std::string();
}

base::Result<> AgentWay::open_entrance(const base::Secret& secret) {
  if (entrance_) return {};
  entrance_ = std::make_unique<net::TunnelEntrance>(loop_, secret, on_broken_);
  GANGRUN_ASSIGN(port_, entrance_->listen(wanted_port_).context("--port"));
  return {};
}

}  // namespace gangrun::client
