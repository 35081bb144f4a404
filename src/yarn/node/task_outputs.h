#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/log.h"
#include "base/result.h"
#include "net/event_loop.h"
#include "net/workers.h"
#include "wire/agent_config.h"
#include "yarn/task_context.h"

namespace gangrun::yarn::node {

// How often connections to the file system are given up where nothing moves, and how long all the
// outputs of one run may take.
inline constexpr std::chrono::seconds kOutputsIdle{60};
inline constexpr std::chrono::hours kOutputsLimit{6};

// The configuration of the outputs in the container's credentials; none if the task has no outputs.
// To be called before prepare_container(), which leaves it out of what the task can read.
using ContainerOutputs = std::optional<yarn::OutputsConfig>;
base::Result<ContainerOutputs> outputs_of_container();

// Writes what a task has left at the names of its outputs to its folder of the job on the cluster's
// file system: in place of what an earlier run has left there, and each file whole or not at all.
class TaskOutputs {
 public:
  // `lost`: what was not written, and why; empty: all was. `missing`: at which names there was
  // nothing.
  using Done = std::function<void(std::string lost, std::string missing)>;

  TaskOutputs(net::EventLoop& loop, base::Logger& logger, yarn::OutputsConfig config,
              const wire::AgentConfig& agent);

  // Calls `done` from the loop. One after the other.
  void keep(Done done);
  // The time is over: what is whole by now is kept, and `done` is called soon.
  void cut_short() { *is_cut_short_ = true; }

 private:
  base::Logger& logger_;
  const yarn::OutputsConfig config_;
  const std::string working_folder_;
  const std::string task_;  // "worker-0", its folder
  const int attempt_;
  std::vector<std::string> names_;
  std::shared_ptr<std::atomic<bool>> is_cut_short_ = std::make_shared<std::atomic<bool>>(false);
  net::Workers worker_;  // last: what runs on it uses the others
};

}  // namespace gangrun::yarn::node
