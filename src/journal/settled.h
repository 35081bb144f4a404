#pragma once

#include <functional>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "job/ends.h"
#include "job/status.h"
#include "job/task_id.h"

namespace gangrun::journal {

// How a task's run has ended of which no master has heard, as the agent that was started for this
// attempt has left it; none: it has left nothing of the kind.
using LeftRun = std::function<std::optional<job::RunEnd>(const job::TaskId& task, int attempt)>;

// The end of a job whose master disappeared, and nobody goes on with: `last`, the newest
// status in the journal in `folder`, with the verdict that the recorded events decide, and the ends
// that agents have left. A master may have had no time, or no room, to record it. As it was where
// they decide none.
base::Result<job::JobStatus> settled(const std::string& folder, job::JobStatus last,
                                     base::Instant now, base::WallTime wall_now,
                                     const LeftRun& left_run = {});

// The same where the place has ended the job, so that nothing of it lives: without a verdict its
// state is that of the moment, and tasks that had not ended are lost. None: no master came so far
// as to record anything, so nothing has run.
base::Result<std::optional<job::JobStatus>> left_behind(const std::string& folder,
                                                        base::Instant now, base::WallTime wall_now);

}  // namespace gangrun::journal
