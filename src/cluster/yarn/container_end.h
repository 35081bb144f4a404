#pragma once

#include <string>

#include "hadoop/records.h"
#include "job/reason.h"

namespace gangrun::cluster {

// What the end of a container means for its task.
struct ContainerEnd {
  std::string sentence;  // "was killed by YARN: 70.1 MB of 64 MB physical memory used"
  job::Reason reason = job::Reason::kAgentEnded;
};

// By the exit status (org.apache.hadoop.yarn.api.records.ContainerExitStatus) and the diagnostics.
ContainerEnd explain_end(const hadoop::ContainerStatus& status);

}  // namespace gangrun::cluster
