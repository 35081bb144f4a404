#include "client/task_agent.h"

#include <utility>

#include "cluster/question.h"
#include "registry/agent_questions.h"

namespace gangrun::client {

base::Result<TaskAgent> agent_of(cluster::Site& site, std::string_view job,
                                 const job::TaskId& task) {
  cluster::Question question;
  question.kind = registry::kControlKind;
  question.tasks = {task};
  GANGRUN_ASSIGN(const cluster::Answer answer, site.ask(job, question));
  if (answer.tasks.empty()) return base::unavailable("it does not run");
  const cluster::TaskAnswer& told = answer.tasks.front();
  if (!told.refused.empty()) return base::unavailable(told.refused);
  GANGRUN_ASSIGN(auto said, base::from_json<registry::ControlAnswer>(told.said));
  return TaskAgent{std::move(said.host), said.port, std::move(said.fingerprint),
                   std::move(said.secret)};
}

}  // namespace gangrun::client
