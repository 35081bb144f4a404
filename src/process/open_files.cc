#include "process/open_files.h"

namespace gangrun::process {

namespace {

// Of the process, as the limit itself is.
rlimit before{};
bool was_raised = false;

}  // namespace

void raise_open_file_limit() {
  if (was_raised || ::getrlimit(RLIMIT_NOFILE, &before) != 0) return;
  rlimit raised = before;
  raised.rlim_cur = raised.rlim_max;
  was_raised = raised.rlim_cur != before.rlim_cur && ::setrlimit(RLIMIT_NOFILE, &raised) == 0;
}

const rlimit* open_file_limit_of_children() { return was_raised ? &before : nullptr; }

}  // namespace gangrun::process
