#include "client/exit_status.h"

#include <algorithm>

#include "base/format.h"

namespace gangrun::client {

const std::vector<ExitStatusRow>& exit_status_table() {
  static const std::vector<ExitStatusRow> kTable = {
      {ExitStatus::kSuccess, "success; of run and wait: the job succeeded"},
      {ExitStatus::kJobFailed, "the job failed"},
      {ExitStatus::kBadInput, "bad usage or bad input; nothing was started"},
      {ExitStatus::kCouldNotStart, "could not start: no user process ran"},
      {ExitStatus::kNoSuchJob, "no such job or task, or its name is ambiguous"},
      {ExitStatus::kJobStopped, "the job was stopped by somebody else (gangrun kill)"},
      {ExitStatus::kJobLost,
       "the job was lost: its master disappeared before it recorded how the job ended"},
      {ExitStatus::kFailed,
       "the command itself failed (a master that does not answer, a full disk)"},
      {ExitStatus::kTimeLimit, "wait: the time limit was reached; the job keeps running"},
      {ExitStatus::kInterrupted,
       "interrupted: Ctrl-C, SIGTERM or a signal like it ended the command"},
  };
  return kTable;
}

std::string exit_status_help() {
  std::string text = "Exit status:\n";
  for (const ExitStatusRow& row : exit_status_table()) {
    text += base::format("  {:>3}  {}\n", to_int(row.status), row.meaning);
  }
  return text;
}

namespace {

// As the master says; of an older one that does not, without a generation no task was ever told to
// start. Or each was, and its program could not be: of an image, the engine's client has run.
bool no_process_ran(const job::JobStatus& status) {
  if (!status.has_run.value_or(status.generation > 0)) return true;
  if (status.restarts_used > 0 || status.tasks.empty()) return false;
  return std::all_of(status.tasks.begin(), status.tasks.end(), [](const job::TaskStatus& task) {
    return task.exit &&
           (task.exit->reason == job::Reason::kCouldNotStart || *task.exit == job::not_begun());
  });
}

}  // namespace

ExitStatus exit_status_of(const job::JobStatus& status, bool interrupted) {
  switch (status.state) {
    case job::JobState::kSucceeded: return ExitStatus::kSuccess;
    case job::JobState::kKilled:
      return interrupted ? ExitStatus::kInterrupted : ExitStatus::kJobStopped;
    case job::JobState::kLost: return ExitStatus::kJobLost;
    case job::JobState::kFailed:
      return no_process_ran(status) ? ExitStatus::kCouldNotStart : ExitStatus::kJobFailed;
    default: return ExitStatus::kFailed;
  }
}

ExitStatus exit_status_of(const base::Error& error) {
  switch (error.code) {
    case base::Code::kInvalidArgument: return ExitStatus::kBadInput;
    case base::Code::kNotFound: return ExitStatus::kNoSuchJob;
    case base::Code::kDeadlineExceeded: return ExitStatus::kTimeLimit;
    case base::Code::kCancelled: return ExitStatus::kInterrupted;
    default: return ExitStatus::kFailed;
  }
}

}  // namespace gangrun::client
