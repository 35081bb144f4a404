#pragma once

#include <map>
#include <string>

#include "base/result.h"
#include "process/engine.h"
#include "process/spawn.h"
#include "wire/agent_config.h"

namespace gangrun::agent {

// The path of the files between an agent and its task's processes, without their endings; processes
// in a container reach them too.
std::string private_prefix(const wire::AgentConfig& config);

// The file in which the container of one process tells how it does, for a task that runs in an
// image.
std::string container_report_path(const wire::AgentConfig& config, int process);

// Takes away what containers that did not start have not read. After the run.
void remove_environments(const wire::AgentConfig& config);

// Writes the process's environment where only its container's first process finds it, and gives the
// engine's client to start, without its outputs and its input, which is the container's lifeline.
base::Result<process::SpawnOptions> client_for(const wire::AgentConfig& config,
                                               const process::EngineContainers& containers,
                                               const std::map<std::string, std::string>& variables,
                                               int process);

}  // namespace gangrun::agent
