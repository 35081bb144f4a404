#pragma once

#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "job/why.h"

namespace gangrun::job {

// At most so many lines of a failing task's standard error are kept and shown.
inline constexpr int kLastLines = 20;

// How one run of a task's user command ended, as its agent saw it.
struct ExitReport {
  bool success = false;
  Why why;  // of a success: how its first process ended
  // Its port was taken by another program: its agent takes another one and reports it. That is the
  // reason of a run that failed of it, and says nothing of one that was stopped.
  bool port_lost = false;
  std::vector<std::string> last_lines;  // of standard error, oldest first, at most kLastLines
  std::string traceback;
  // Of the task's outputs, what its agent could not keep, and why; empty: nothing.
  std::string lost_outputs{};
  bool has_both_streams = false;  // last_lines may be of standard output, too

  friend bool operator==(const ExitReport&, const ExitReport&) = default;
};

base::Json to_json(const ExitReport& report);
base::Result<ExitReport> exit_report_from_json(const base::Json& json);

}  // namespace gangrun::job
