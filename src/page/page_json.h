#pragma once

#include <string>
#include <vector>

#include "base/json.h"
#include "job/spec.h"
#include "job/status.h"

namespace gangrun::page {

// A TensorBoard of the job, and how a user gets to it.
struct Board {
  job::TaskId task;
  std::string command;  // to be typed
  std::string url;      // where it listens for everybody, and is there; else empty

  friend bool operator==(const Board&, const Board&) = default;
};

// The first task of each type that shows a folder.
std::vector<Board> boards_of(const job::JobSpec& spec, const job::JobStatus& status);

// The data of the page (docs/protocols/page.md). Whoever may see YARN's pages may see it: nothing
// of the tasks' output is in it, and nothing by which a task or the master could be reached.
base::Json page_json(const job::JobSpec& spec, const job::JobStatus& status);

}  // namespace gangrun::page
