#pragma once

#include <sys/types.h>

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"
#include "base/unique_fd.h"
#include "host/backend.h"
#include "host/job_folder.h"
#include "jobfile/section.h"

// The processes of a job whose master is no client: a supervisor starts the master, and another one
// whenever that dies before the job has ended.
namespace gangrun::host {

// Starts a supervisor of the job that is in this folder, and gives its process, which is not waited
// for. What it and its master reach is written to `told_fd`, a line each; -1: nobody is told.
base::Result<pid_t> start_supervisor(const std::string& program, const JobPaths& paths,
                                     int told_fd);

// For a detached job that has lost its master and its supervisor while tasks of it live: starts a
// supervisor. Returns when the next master answers, at most at `deadline`.
base::Result<> revive(const std::string& program, const JobPaths& paths, base::Instant deadline);

// The two processes themselves, which nobody types: `gangrun supervise FOLDER TOLD_FD` and `gangrun
// master FOLDER TOLD_FD LOCK_FD`; -1 is no descriptor. `supervisor_lock` is held until the master
// has its own: at every moment somebody is seen to have the job.
enum class Supervised { kEnded, kCouldNotStart, kFailed };
Supervised run_supervisor(const std::string& program, const base::Clock& clock,
                          const std::string& folder, int told_fd);
using BackendOf = std::function<std::unique_ptr<Backend>(const job::JobSpec&)>;
// `sections` are those that backends know. An error says why the job could not start.
base::Result<> run_master(const base::Clock& clock, base::Instant commanded_at,
                          const std::string& folder, int told_fd, base::UniqueFd supervisor_lock,
                          const jobfile::SectionList& sections, const BackendOf& backend_of);

// The content of those lines.
inline constexpr std::string_view kSupervised = "supervised";
inline constexpr std::string_view kStarted = "started";
inline constexpr std::string_view kRefused = "refused ";  // and why

}  // namespace gangrun::host
