#pragma once

#include <string>

#include "hadoop/records.h"
#include "job/ends.h"

namespace gangrun::cluster {

// What the end of a container means for its task: by the exit status
// (org.apache.hadoop.yarn.api.records.ContainerExitStatus) and the diagnostics.
job::Why explain_end(const hadoop::ContainerStatus& status);

}  // namespace gangrun::cluster
