#pragma once

#include <optional>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "job/status.h"

namespace gangrun::journal {

// What a job has come to whose master disappeared, and nobody goes on with: `last`, the newest
// status in the journal in `folder`, with the verdict that the recorded events decide. A master may
// have had no time, or no room, to record it. As it was where they decide none.
base::Result<job::JobStatus> settled(const std::string& folder, job::JobStatus last,
                                     base::Instant now, base::WallTime wall_now);

// The same where the place has ended the job, so that nothing of it lives: without a verdict its
// state is that of the moment, and tasks that had not ended are lost. None: no master came so far
// as to record anything, so nothing has run.
base::Result<std::optional<job::JobStatus>> left_behind(const std::string& folder,
                                                        base::Instant now, base::WallTime wall_now);

}  // namespace gangrun::journal
