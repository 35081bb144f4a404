#pragma once

#include <string>

#include "hadoop/records.h"
#include "job/ends.h"

namespace gangrun::cluster {

// The task is lost with its container, by no fault of its own.
job::Why container_lost(std::string detail);

// What the end of a container means for its task: by the exit status
// (org.apache.hadoop.yarn.api.records.ContainerExitStatus) and the diagnostics.
job::Why explain_end(const hadoop::ContainerStatus& status);

}  // namespace gangrun::cluster
