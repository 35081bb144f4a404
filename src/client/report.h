#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "client/style.h"
#include "job/status.h"

// The words in which users are told of a job and its tasks: pure text.
namespace gangrun::client {

// The command that shows the job's output, or that of the task that failed first.
std::string logs_command(const job::JobStatus& status);

// The failing task's last lines and traceback in that report: all of them, or the last line
// where all stand just above.
enum class Evidence { kAll, kLastLine };
// The lines that this is about.
std::vector<std::string> lines_of(const job::Cause& cause);
// They are indented; empty without any.
Lines evidence_lines(const job::Cause& cause, Evidence evidence = Evidence::kAll);

// Verdict, first cause with its evidence, start-up time, where the logs are and what to do next. A
// folder that is not here, as that of a job on YARN, is no place of logs.
bool has_folder_here(const std::string& path);
Lines end_report(const job::JobStatus& status,
                 const std::function<bool(const std::string&)>& is_folder_here = has_folder_here,
                 Evidence evidence = Evidence::kAll);

// A sentence for each task whose lines are not all in its log, for one task or all; beyond a few
// they are counted.
std::vector<std::string> missing_lines(const job::JobStatus& status,
                                       const std::optional<job::TaskId>& task);

// A sentence for each task whose outputs were not all kept; beyond a few they are counted.
std::vector<std::string> lost_outputs(const job::JobStatus& status);

// "wine-… failed after 41 s" without the cause.
std::string verdict_sentence(const job::JobStatus& status);

// "chief:0, worker:0, worker:1", at most the first 10 and a mark that there are more.
std::string first_tasks(const job::JobStatus& status);
// The error for a task that the job does not have, with those that it has.
base::Error no_such_task(const job::JobStatus& status, std::string_view name);
// The same error for the first of these that the job does not have. A status without tasks, as
// places have it of some ended jobs, has every task.
base::Result<> check_tasks(const job::JobStatus& status, const std::vector<job::TaskId>& wanted);

}  // namespace gangrun::client
