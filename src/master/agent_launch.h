#pragma once

#include <cstdint>
#include <string>

#include "job/task_id.h"
#include "master/master.h"
#include "registry/agent_config.h"

namespace gangrun::master {

// Where a task's output goes; ".out" and ".err" stand behind it.
std::string log_prefix_of(const Settings& settings, const job::TaskId& task);

// What the agent for an attempt of a task must know. `tls_port` is where this master serves agents
// of other hosts.
registry::AgentConfig agent_config_of(const Settings& settings, const job::TaskId& task,
                                      int attempt, std::uint16_t tls_port);

}  // namespace gangrun::master
