#include "client/task_way.h"

#include <utility>

#include "cluster/question.h"
#include "wire/agent_questions.h"

namespace gangrun::client {

namespace {

base::Error never(std::string why) { return {base::Code::kFailedPrecondition, std::move(why)}; }

}  // namespace

base::Result<TaskAgent> agent_of(cluster::Job& job, const job::TaskId& task) {
  cluster::Question question;
  question.kind = wire::kControlKind;
  question.tasks = {task};
  GANGRUN_ASSIGN(const cluster::Answer answer, job.ask(question));
  if (answer.tasks.empty()) return never("it does not run");
  const cluster::TaskAnswer& told = answer.tasks.front();
  if (told.is_passing) return base::unavailable(told.refused);
  if (!told.refused.empty()) return never(told.refused);
  GANGRUN_ASSIGN(auto said, base::from_json<wire::ControlAnswer>(told.said));
  return TaskAgent{std::move(said.control.host), said.control.port,
                   std::move(said.control.fingerprint), std::move(said.secret)};
}

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
