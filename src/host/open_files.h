#pragma once

#include "base/result.h"
#include "job/spec.h"

namespace gangrun::host {

// Whether the master of this job may have as many files open as it will: else tasks would miss it
// one by one. kFailedPrecondition, with both numbers.
base::Result<> check_open_files(const job::JobSpec& spec);

}  // namespace gangrun::host
