#pragma once

#include <chrono>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "client/context.h"
#include "host/job_folder.h"
#include "job/status.h"

namespace gangrun::client {

// The folder for outputs of a job that is not kept on this machine.
std::string brought_folder(const std::string& home, const std::string& id);
// A task's folder there, "worker-0", by either of its names.
std::string folder_of_task(const std::string& task);

// Whether a job of this machine has not ended. `status` is what its site says; it is asked once, by
// who needs it for more. The master of one that has just ended still records what hosts have kept:
// that is waited for, which is said where it takes longer than a moment; kUnavailable after
// `limit`.
inline constexpr std::chrono::seconds kMasterLeaves(30);
base::Result<bool> goes_on(const Context& context, const host::JobPaths& paths,
                           const base::Result<job::JobStatus>& status,
                           base::Duration limit = kMasterLeaves);

// The job that `job` means: kNotFound where no job, or more than one, is meant; kFailedPrecondition
// where it has not ended.
base::Result<std::string> ended_job(const Context& context, const std::string& job);

// Removes what there is of an ended job: first what its place keeps of it elsewhere, then what is
// on this machine: its folder with its logs, results, outputs and journal. After an error the
// folder is still there, so that the command can be given again.
base::Result<> remove_job(Context& context, const std::string& id);

}  // namespace gangrun::client
