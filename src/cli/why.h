#pragma once

#include <string>
#include <vector>

#include "client/style.h"
#include "job/status.h"

namespace gangrun::cli {

// The things for which a job waits now, in plain words, a sentence each; of an ended job, why it
// ended. Never empty.
std::vector<std::string> why(const job::JobStatus& status);

// The same for people: after the first cause, the last lines and the traceback of its task.
client::Lines why_lines(const job::JobStatus& status);

}  // namespace gangrun::cli
