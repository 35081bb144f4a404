#pragma once

#include <string>

#include "hadoop/records.h"
#include "job/ends.h"
#include "job/status.h"

namespace gangrun::yarn {

// The text that the master leaves with YARN as the application's diagnostics: the first cause, and
// its reason for application_end(). Empty without a cause.
std::string diagnostics_of(const job::JobStatus& status);

// Why an application ended that has failed or was killed, as far as YARN alone tells.
job::Cause application_end(const hadoop::ApplicationReport& report);

// Whether it ended because its masters did, before one could tell the end of the job.
[[nodiscard]] bool has_lost_its_master(const hadoop::ApplicationReport& report);

}  // namespace gangrun::yarn
