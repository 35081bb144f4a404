#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "job/status.h"

namespace gangrun::client {

// The statuses with which commands end; the one table of them (docs/commands.md shows the same).
enum class ExitStatus {
  kSuccess = 0,
  kJobFailed = 1,
  kBadInput = 2,
  kCouldNotStart = 3,
  kNoSuchJob = 4,
  kJobStopped = 5,
  kJobLost = 6,
  kFailed = 7,
  kTimeLimit = 124,
  kInterrupted = 130,
};

struct ExitStatusRow {
  ExitStatus status;
  std::string_view meaning;
};

const std::vector<ExitStatusRow>& exit_status_table();
// The table as --help shows it.
std::string exit_status_help();

// The status of `run` and `wait`, for a job that has ended. `interrupted`: it ended because we were
// asked to.
ExitStatus exit_status_of(const job::JobStatus& status, bool interrupted);

// The status of a command that failed for this reason before or beside any job.
ExitStatus exit_status_of(const base::Error& error);

inline int to_int(ExitStatus status) { return static_cast<int>(status); }

}  // namespace gangrun::client
