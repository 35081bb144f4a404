#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "client/style.h"
#include "job/status.h"

// What a user is told when a job has ended: pure text.
namespace gangrun::client {

// The command that shows the job's output, or that of the task that failed first.
std::string logs_command(const job::JobStatus& status);

// Verdict, first cause with the last lines of the failing task, start-up time, where the logs are
// and what to do next. A folder that is not here, as that of a job on YARN, is no place of logs.
bool has_folder_here(const std::string& path);
Lines end_report(const job::JobStatus& status,
                 const std::function<bool(const std::string&)>& is_folder_here = has_folder_here);

// The cause alone: the sentence, then its evidence.
Lines cause_lines(const job::Cause& cause);

// The last lines and the traceback of the task that failed first, indented; empty without them.
Lines evidence_lines(const job::Cause& cause);

// A sentence for each task whose lines are not all in its log, for one task or all; beyond a few
// they are counted.
std::vector<std::string> missing_lines(const job::JobStatus& status,
                                       const std::optional<job::TaskId>& task);

// A sentence for each task whose outputs were not all kept; beyond a few they are counted.
std::vector<std::string> lost_outputs(const job::JobStatus& status);

// "wine-… failed after 41 s" without the cause.
std::string verdict_sentence(const job::JobStatus& status);

}  // namespace gangrun::client
