#pragma once

#include "base/clock.h"
#include "base/result.h"
#include "host/job_folder.h"
#include "process/process_handle.h"

// A master of this machine that lives and does not answer: it is stopped, or stuck.
namespace gangrun::host {

// The process that listens at the job's socket, as the kernel knows it: its answer is not needed.
// kUnavailable: nobody listens there.
base::Result<process::ProcessHandle> listening_master(const JobPaths& paths);

// Returns when it has ended. kDeadlineExceeded where the kernel holds it.
base::Result<> kill_master(const process::ProcessHandle& master, base::Instant deadline);

}  // namespace gangrun::host
