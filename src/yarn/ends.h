#pragma once

#include <optional>
#include <string>

#include "hadoop/records.h"
#include "job/last_words.h"
#include "job/status.h"

// Why containers and applications have ended, from what YARN tells of them. Pure.
namespace gangrun::yarn {

// The task is lost with its container, by no fault of its own.
job::Why container_lost(std::string detail);

// The meaning of the end of a container for its task: by the exit status
// (org.apache.hadoop.yarn.api.records.ContainerExitStatus) and the diagnostics.
job::Why explain_end(const hadoop::ContainerStatus& status);

// The words that an agent that ended by itself has left on standard error, whose end the
// NodeManager tells (node::leave_words_in_container).
std::optional<job::LastWords> last_words_of(const hadoop::ContainerStatus& status);

// The text that the master leaves with YARN as the application's diagnostics: the first cause, and
// its reason for application_end(). Empty without a cause.
std::string diagnostics_of(const job::JobStatus& status);

// Why an application ended that has failed or was killed, as far as YARN alone tells.
job::Cause application_end(const hadoop::ApplicationReport& report);

// Whether it ended because its masters did, before one could tell the end of the job.
[[nodiscard]] bool has_lost_its_master(const hadoop::ApplicationReport& report);

// How a job has ended whose masters could not tell it: what YARN says of the application, and what
// the journal has of the job; none: nothing of it has run. One of which no task has run has failed,
// one of which some have is lost, where YARN has it as lost.
job::JobStatus status_without_master(job::JobStatus by_yarn,
                                     std::optional<job::JobStatus> by_journal);

}  // namespace gangrun::yarn
