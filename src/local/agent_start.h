#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/json.h"
#include "cluster/launcher.h"
#include "job/gpus.h"
#include "job/spec.h"
#include "local/host_network.h"

namespace gangrun::local {

// The file descriptors of an agent's configuration, its network namespace, a file for why it has
// ended, and the locks of its GPUs.
inline constexpr int kConfigFd = 3;
inline constexpr int kNetworkFd = 4;
inline constexpr int kWordsFd = 5;
inline constexpr int kFirstLockFd = 6;

// The configuration of an agent on this machine: `gpus` of those of the machine are its own,
// `network` is that of its host, if it has one.
base::Json agent_config(const cluster::Launch& launch, const job::Gpus& of_machine,
                        const std::vector<job::Gpu>& gpus, const HostNetwork* network);

struct AgentCommand {
  std::string program;
  std::string name;  // agent_name()
  job::Containment containment = job::Containment::kSubreaper;
  std::vector<std::string> containers{};
  bool outlives_us = false;
  bool has_network = false;
  std::size_t locks = 0;
};

// The program and its arguments, which name the descriptors above.
std::vector<std::string> agent_arguments(const AgentCommand& command);

}  // namespace gangrun::local
