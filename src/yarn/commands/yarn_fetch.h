#pragma once

#include <functional>
#include <string>

#include "base/result.h"
#include "yarn/yarn_site.h"

namespace gangrun::yarn::commands {

// Brings what tasks of the job have left on the cluster's file system to a folder of each task in
// `folder`: of all tasks, or of one ("worker-0"). What is there already as it is on the cluster is
// not brought again.
base::Result<> fetch_far_outputs(
    yarn::YarnJob& job, const std::string& task, const std::string& folder,
    const std::function<void(const std::string& name, std::uint64_t got, std::uint64_t size)>&
        progress);

}  // namespace gangrun::yarn::commands
