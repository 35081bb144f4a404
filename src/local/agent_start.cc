#include "local/agent_start.h"

#include "base/format.h"
#include "cluster/place_part.h"
#include "job/described.h"

namespace gangrun::local {

base::Json agent_config(const cluster::Launch& launch, const job::Gpus& of_machine,
                        const std::vector<job::Gpu>& gpus, const HostNetwork* network) {
  cluster::PlacePart part;
  // A task that asked for none must not see those of the others.
  if (!of_machine.list.empty()) part.gpus = job::Gpus{of_machine.maker, gpus};
  if (launch.wanted) part.wanted_port = launch.wanted->port;
  if (network != nullptr) {
    part.host = network->address;
    part.host_reason = network->address_reason;
    part.master_host = network->master_address;
  }
  base::Json config = launch.agent_config;
  cluster::set(part, config);
  return config;
}

std::vector<std::string> agent_arguments(const AgentCommand& command) {
  std::vector<std::string> arguments{
      command.program, "task",
      "--containment", std::string(job::to_string(command.containment)),
      "--name",        command.name,
      "--config-fd",   std::to_string(kConfigFd),
      "--words-fd",    std::to_string(kWordsFd)};
  const auto add = [&arguments](std::initializer_list<std::string> more) {
    arguments.insert(arguments.end(), more);
  };
  if (!command.containers.empty()) {
    add({"--containers", base::format("{}", base::join(command.containers, ","))});
  }
  if (command.outlives_us) add({"--outlive"});
  if (command.has_network) add({"--network-fd", std::to_string(kNetworkFd)});
  if (command.locks > 0) {
    std::vector<std::string> numbers;
    for (std::size_t lock = 0; lock < command.locks; ++lock) {
      numbers.push_back(std::to_string(static_cast<std::size_t>(kFirstLockFd) + lock));
    }
    add({"--lock-fds", base::format("{}", base::join(numbers, ","))});
  }
  return arguments;
}

}  // namespace gangrun::local
