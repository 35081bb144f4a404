#pragma once

#include <string>

#include "base/clock.h"
#include "job/spec.h"
#include "job/status.h"
#include "kubernetes/records/head.h"

// The status of a detached job as it is told where its master does not tell it. Pure.
namespace gangrun::kubernetes::commands {

// The part of a job's status that its head alone tells.
job::JobStatus summary_of(const records::Head& head, base::WallTime now);
// How long the job has run, or had; one that has ended by nobody's word ended now.
void set_moments(job::JobStatus& status, base::WallTime now);
// Without the master's own folder: it is in its pod, where nobody looks.
job::JobStatus seen_from_here(job::JobStatus status);
// All tasks of the job, as they are before they have a place.
void add_tasks(job::JobStatus& status, const job::JobSpec& spec);
// The end of a job that no master has told: killed, where somebody asked for it; else lost, as
// `how` says.
job::JobStatus ended_unseen(job::JobStatus last, const std::string& stopped_by,
                            const std::string& how, base::WallTime now);

}  // namespace gangrun::kubernetes::commands
