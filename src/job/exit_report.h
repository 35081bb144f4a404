#pragma once

#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "base/described.h"
#include "base/json.h"
#include "base/result.h"
#include "job/json_text.h"
#include "job/why.h"

namespace gangrun::job {

// How one run of a task's user command ended, as its agent saw it.
struct ExitReport {
  bool success = false;
  Why why{};  // of a success: how its first process ended
  // Its port was taken by another program: its agent takes another one and reports it. That is the
  // reason of a run that failed of it, and says nothing of one that was stopped.
  bool port_lost = false;
  std::vector<std::string> last_lines{};  // of standard error, oldest first, at most kLastLines
  std::string traceback{};
  // The outputs of the task that its agent could not keep, and why; empty: none.
  std::string lost_outputs{};
  bool has_both_streams = false;  // last_lines may be of standard output, too

  static constexpr bool kIsOpen = true;
  static constexpr auto rows() {
    return std::tuple(GANGRUN_EACH(base::row, ExitReport, success, why, port_lost),
                      base::row("last_lines", &ExitReport::last_lines, LastLines{}),
                      base::row("traceback", &ExitReport::traceback, Told{kMaxTracebackBytes}),
                      base::row_if_set("both_streams", &ExitReport::has_both_streams),
                      base::row_if_set("lost_outputs", &ExitReport::lost_outputs, kSentence));
  }
  // Reads one with a sentence in place of values, as older versions write it.
  static base::Result<std::optional<base::Json>> renewed(const base::Json& json);

  friend bool operator==(const ExitReport&, const ExitReport&) = default;
};

}  // namespace gangrun::job
