#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

// The agent comes into a pod by an image: a container of that runs `gangrun-pod-agent copy-to`
// before the task's begins.
namespace gangrun::agent {

// Copies the agent at `program`, which has this very version, into `folder`, for every user to
// execute. kFailedPrecondition: the job is of another version.
base::Result<> copy_agent(const std::string& program, const std::string& folder,
                          std::string_view version_of_job);

}  // namespace gangrun::agent
