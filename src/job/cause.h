#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "job/task_id.h"
#include "job/why.h"

namespace gangrun::job {

// Another task that failed after the first one.
struct Follower {
  TaskId task;
  std::chrono::milliseconds after{0};

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

  friend bool operator==(const Cause&, const Cause&) = default;
};

// "worker:5 on host7 was killed by signal 9 (out of memory), 41 s before worker:3 failed too",
// "stopped by Ctrl-C".
std::string to_words(const Cause& cause);

// With the sentence and the reason, which follow from the rest, for programs that show or decide.
base::Json to_json(const Cause& cause);
base::Result<Cause> cause_from_json(const base::Json& json);

}  // namespace gangrun::job
