#pragma once

#include <functional>
#include <memory>

#include "base/result.h"
#include "cli/run_session.h"
#include "cluster/local/job_folder.h"

// Jobs whose master is a process of its own: the client submits and goes, a supervisor starts the
// master, and another one whenever that dies before the job has ended.
namespace gangrun::cli {

// Submits the job and returns as soon as its master has asked for its tasks, or could not.
ExitStatus run_detached(const RunPlan& plan, const RunOptions& options, Context& context);

// For a detached job that has lost its master and its supervisor while tasks of it live: starts a
// supervisor. Returns when the next master answers, at most at `deadline`.
base::Result<> revive(const std::string& program, const cluster::JobPaths& paths,
                      base::Instant deadline);

// The two processes themselves, which nobody types: `gangrun supervise FOLDER TOLD_FD` and `gangrun
// master FOLDER TOLD_FD LOCK_FD`; -1 is no descriptor. What has been reached is written to
// `told_fd`, a line each. `supervisor_lock` is held until the master has its own: at every moment
// somebody is seen to have the job.
ExitStatus run_supervisor(const std::string& folder, int told_fd, Context& context);
using BackendOf = std::function<std::unique_ptr<Backend>(const job::JobSpec&)>;
ExitStatus run_master(const std::string& folder, int told_fd, base::UniqueFd supervisor_lock,
                      const BackendOf& backend_of, Context& context);

// What stands in those lines.
inline constexpr std::string_view kSupervised = "supervised";
inline constexpr std::string_view kStarted = "started";
inline constexpr std::string_view kRefused = "refused ";  // and why

}  // namespace gangrun::cli
