#include "wire/agent_config.h"

#include "base/files.h"
#include "base/format.h"
#include "job/described.h"

namespace gangrun::wire {

base::Result<> AgentConfig::complete() const {
  const job::TaskSpec* of_type = spec.find(task.type);
  if (of_type == nullptr || task.index >= of_type->slots()) {
    return base::invalid_argument(base::format("the job has no task {}", job::to_string(task)));
  }
  return {};
}

base::Result<AgentConfig> read_agent_config(const std::string& path) {
  GANGRUN_ASSIGN(const std::string text, base::read_input(path, kMaxAgentConfigBytes));
  GANGRUN_ASSIGN(const base::Json json, base::parse_json(text, kMaxAgentConfigBytes));
  return base::from_json<AgentConfig>(json).context("in the agent's configuration");
}

}  // namespace gangrun::wire
