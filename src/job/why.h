#pragma once

#include <chrono>
#include <string>
#include <tuple>

#include "base/described.h"
#include "base/exit_words.h"
#include "job/json_text.h"
#include "job/reason.h"

namespace gangrun::job {

// Longer than any host name that DNS permits.
inline constexpr Told kTextHost{1024};

// Why a run of a task, a task or a job ended. Rooms, messages and the journal carry these values;
// to_words() makes the sentence where people read it.
struct Why {
  Reason reason = Reason::kUnknown;  // unknown of a run that succeeded, too
  // The end of the process (the first of several that failed): its status, or the signal that
  // ended it, or 0.
  int code = 0;
  int signal = 0;
  bool core_dumped = false;
  // Which of the task's processes it was, from 0, and of how many; 0 and 0 where there is but one.
  int process = 0;
  int processes = 0;
  // The limit that had passed, if the reason is a limit of time.
  std::chrono::milliseconds limit{0};
  // The host it ran on, where the place had not named one before.
  std::string host = {};
  // Words that only the one who saw the end can say: an error of the system, what Kubernetes or
  // YARN tells of it, who asked for it. Goes on after a colon.
  std::string detail = {};
  // The whole sentence, as a version of gangrun told it that knew no values; else empty.
  std::string told = {};

  // Only what says something is written: {"reason": "signal", "signal": 9}.
  static constexpr bool kIsOpen = true;
  static constexpr auto rows() {
    return std::tuple(base::row("reason", &Why::reason),
                      GANGRUN_EACH(base::row_if_set, Why, code, signal, core_dumped),
                      base::tolerant_row_when(is_one_of_several, "process", &Why::process),
                      base::row_if_set("processes", &Why::processes),
                      base::row_if_set("limit_ms", &Why::limit),
                      base::row_if_set("host", &Why::host, kTextHost),
                      base::row_if_set("detail", &Why::detail, kSentence),
                      base::row_if_set("told", &Why::told, kSentence));
  }
  static bool is_one_of_several(const Why& why) { return why.processes != 0; }

  friend bool operator==(const Why&, const Why&) = default;
};

// With the reason that follows from it: out_of_memory, signal or exit_status; unknown of a success.
Why why_of(const base::ProcessEnd& end);

// The end of a task that was stopped before it had begun.
Why not_begun();

// Goes on after the name of what has ended: "exited with status 3", "was killed by signal 9 (out of
// memory)", "was evicted: the node was low on memory".
std::string to_words(const Why& why);

}  // namespace gangrun::job
