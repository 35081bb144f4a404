#pragma once

#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"

namespace gangrun::job {

// At most so many lines of a failing task's standard error are kept and shown.
inline constexpr int kLastLines = 20;

// How one run of a task's user command ended, as its agent saw it.
struct ExitReport {
  bool success = false;
  // Of the failed process (the first of several): its status, or the signal that ended it, or 0.
  int code = 0;
  int signal = 0;
  bool out_of_memory = false;
  // The command could not be started at all: no such program, no right to run it.
  bool could_not_start = false;
  // Ended within its first seconds because its port was taken: not a failure of the task.
  bool port_lost = false;
  // Failed after it was told that its place may take it away: not a failure of the task either.
  bool preempted = false;
  // "exited with status 3", "was killed by signal 9 (out of memory)", "could not be started: …".
  std::string sentence;
  std::vector<std::string> last_lines;  // of standard error, oldest first, at most kLastLines
  std::string traceback;

  friend bool operator==(const ExitReport&, const ExitReport&) = default;
};

base::Json to_json(const ExitReport& report);
base::Result<ExitReport> exit_report_from_json(const base::Json& json);

}  // namespace gangrun::job
