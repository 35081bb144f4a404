#pragma once

#include <string>
#include <vector>

#include "client/context.h"
#include "client/exit_status.h"

namespace gangrun::client {

struct ExecOptions {
  std::string job;
  std::string task;
  bool no_terminal = false;
  std::vector<std::string> command;
};

// Runs a command beside a running task, by the task's agent: a shell where none is named. Standard
// input, output and error are the command's; if the first two are a terminal, that is too. The
// status is the command's, or 125 to 127 where there is none.
ExitStatus exec(const ExecOptions& options, Context& context);

}  // namespace gangrun::client
