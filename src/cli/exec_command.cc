#include <memory>
#include <string>

#include "base/format.h"
#include "base/result.h"
#include "cli/commands.h"
#include "client/exec.h"

namespace gangrun::cli {

namespace {

base::Result<client::ExitStatus> exec(const client::ExecOptions& options,
                                      client::Context& context) {
  // No job's name has a colon.
  if (options.job.find(':') != std::string::npos) {
    return base::invalid_argument(
        base::format("unexpected argument '{}'; put -- before the command", options.task));
  }
  return client::exec(options, context);
}

}  // namespace

client::Command exec_command() {
  const auto options = std::make_shared<client::ExecOptions>();
  return {
      .name = "exec",
      .summary = "Run a command, or a shell, beside a running task.",
      .words = {job_word(options->job), {"TASK", &options->task}},
      .rest = &options->command,
      .flags = {{"--no-terminal", &options->no_terminal, "",
                 "Pipes for the command, though standard input and output are a terminal"}},
      .footer =
          "The command runs where the task runs: as its user, in its namespaces, image, folder "
          "and\n"
          "environment, and ends with the task and with this command. Without a command, it is a "
          "shell.\nIts exit status is that of gangrun; 125 is an error of gangrun's own, 126 and "
          "127 a command\nthat cannot be started or is not there. JOB is an id, the unambiguous "
          "beginning of one, or\nlast; without it, the last one. TASK is like worker:0; a job's "
          "only task needs no name.\n\n"
          "Examples:\n  gangrun exec worker:0\n  gangrun exec worker:0 -- nvidia-smi\n",
      .action = acts(options, exec)};
}

}  // namespace gangrun::cli
