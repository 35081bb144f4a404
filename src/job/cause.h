#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "base/described.h"
#include "base/json.h"
#include "base/result.h"
#include "job/json_text.h"
#include "job/task_id.h"
#include "job/why.h"

namespace gangrun::job {

// Another task that failed after the first one.
struct Follower {
  TaskId task;
  std::chrono::milliseconds after{0};

  static constexpr bool kIsOpen = true;
  static constexpr auto rows() {
    return std::tuple(base::row("task", &Follower::task), base::row("after_ms", &Follower::after));
  }

  friend bool operator==(const Follower&, const Follower&) = default;
};

// Why a job ended as it did. to_words() makes the sentence.
struct Cause {
  std::optional<TaskId> task = {};  // the task that failed first, if it was a task
  std::string host = {};
  Why why = {};
  int lost_ports = 0;  // that the task had lost before, one after the other
  std::optional<Follower> next = {};
  std::string beside = {};  // what else was wrong with the job
  // The whole sentence, where nothing else is known: of a version of gangrun that told no values,
  // or of a cluster's own record of the job; else empty.
  std::string told = {};
  std::vector<std::string> last_lines = {};  // of that task's standard error, oldest first
  std::string traceback = {};                // the last Python traceback in them, if there is one
  bool has_both_streams = false;  // last_lines may be of its standard output, too (in a pod)

  // With the reason and the sentence, which follow from the rest, for programs that show or decide.
  static constexpr bool kIsOpen = true;
  static constexpr auto rows() {
    return std::tuple(
        base::row_or_null("task", &Cause::task),
        base::row("host", &Cause::host, Told{kMaxLineBytes}),
        base::derived_row("reason", reason_of), base::derived_row("sentence", sentence_of),
        base::row("why", &Cause::why), base::row_if_set("lost_ports", &Cause::lost_ports),
        base::row("next", &Cause::next), base::row_if_set("beside", &Cause::beside, kSentence),
        base::row_if_set("told", &Cause::told, kSentence),
        base::row("last_lines", &Cause::last_lines, LastLines{}),
        base::row_if_set("both_streams", &Cause::has_both_streams),
        base::row("traceback", &Cause::traceback, Told{kMaxTracebackBytes}));
  }
  static base::Json reason_of(const Cause& cause);
  static base::Json sentence_of(const Cause& cause);
  // Reads one with no more than its sentence and perhaps its reason.
  static base::Result<std::optional<base::Json>> renewed(const base::Json& json);

  friend bool operator==(const Cause&, const Cause&) = default;
};

// "worker:5 on host7 was killed by signal 9 (out of memory), 41 s before worker:3 failed too",
// "stopped by Ctrl-C".
std::string to_words(const Cause& cause);

}  // namespace gangrun::job
