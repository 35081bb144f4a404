#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "job/cluster_spec.h"
#include "job/ends.h"
#include "job/task_id.h"
#include "wire/agent_config.h"

// The agent as the first process of a pod's container: `gangrun-pod-agent pod`.
namespace gangrun::agent {

// The flags of this agent. All pods of a job share one configuration, which a Secret holds.
struct PodWords {
  job::TaskId task;
  int attempt = 1;
  std::string config;                  // the file of the configuration
  std::string folder;                  // that it may write to, and that is its own
  std::optional<job::Address> master;  // the way to it; none: somebody will tell
  // The place at which the other tasks are to find this one; none: the pod's address, and any port.
  std::optional<job::Address> own;
  // At the first of these that is free, of the loopback interface, somebody tells it.
  std::vector<std::uint16_t> hint_ports{};
};

// `--task worker:3 --attempt 1 --config FILE --folder FOLDER --hint-port N,... [--master HOST:PORT]
// [--host HOST --port N]`; none: they are not these.
std::optional<PodWords> pod_words_from(const std::vector<std::string>& words);

// The agent's configuration there. Its address is the pod's, which a variable has; that is no
// business of the task, and is taken out of the environment.
base::Result<wire::AgentConfig> agent_config_of(const PodWords& words);

}  // namespace gangrun::agent
