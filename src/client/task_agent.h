#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/secret.h"
#include "cluster/site.h"
#include "job/task_id.h"

namespace gangrun::client {

// The address of a task's agent, as its own host sees it, and the right to call it.
struct TaskAgent {
  std::string host;
  std::uint16_t port = 0;
  std::string fingerprint;
  base::Secret secret;
};

// Asks the agent itself. kUnavailable while it or the job's master may come back.
base::Result<TaskAgent> agent_of(cluster::Job& job, const job::TaskId& task);

}  // namespace gangrun::client
