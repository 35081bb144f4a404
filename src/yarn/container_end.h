#pragma once

#include <optional>
#include <string>

#include "hadoop/records.h"
#include "job/ends.h"
#include "job/last_words.h"

namespace gangrun::yarn {

// The task is lost with its container, by no fault of its own.
job::Why container_lost(std::string detail);

// The meaning of the end of a container for its task: by the exit status
// (org.apache.hadoop.yarn.api.records.ContainerExitStatus) and the diagnostics.
job::Why explain_end(const hadoop::ContainerStatus& status);

// The words that an agent that ended by itself has left on standard error, whose end the
// NodeManager tells (node::leave_words_in_container).
std::optional<job::LastWords> last_words_of(const hadoop::ContainerStatus& status);

}  // namespace gangrun::yarn
