#pragma once

#include <string>

#include "base/result.h"
#include "base/unique_fd.h"

namespace gangrun::base {

// Whether the kernel has anonymous files in memory (Linux 3.17), which can be sealed.
bool has_memory_files();

// An empty one, closed on exec unless the caller hands it on; on older kernels a file in /dev/shm
// without a name.
Result<UniqueFd> memory_file(const std::string& name);

}  // namespace gangrun::base
