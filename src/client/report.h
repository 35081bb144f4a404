#pragma once

#include <string>

#include "client/style.h"
#include "job/status.h"

// What a user is told when a job has ended: pure text.
namespace gangrun::client {

// Verdict, first cause with the last lines of the failing task, start-up time, where the logs are
// and what to do next.
Lines end_report(const job::JobStatus& status);

// The cause alone: the sentence, then the last lines and the traceback, indented.
Lines cause_lines(const job::Cause& cause);

// "wine-… failed after 41 s" without the cause.
std::string verdict_sentence(const job::JobStatus& status);

}  // namespace gangrun::client
