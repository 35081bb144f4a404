#include <memory>
#include <string>

#include "base/format.h"
#include "base/result.h"
#include "cli/command_builder.h"
#include "cli/commands.h"
#include "client/exec.h"
#include "client/fail.h"

namespace gangrun::cli {

void add_exec(CLI::App& app, Request& request) {
  CLI::App* command = add_command(app, "exec", "Run a command, or a shell, beside a running task.");
  const auto options = std::make_shared<client::ExecOptions>();
  add_job_and_task(*command, request, options->job, options->task);
  add_flag(*command, "--no-terminal", options->no_terminal,
           "Pipes for the command, though standard input and output are a terminal");
  add_footer(
      *command,
      "The command runs where the task runs: as its user, in its namespaces, image, folder and\n"
      "environment, and ends with the task and with this command. Without a command, it is a "
      "shell.\nIts exit status is that of gangrun; 125 is an error of gangrun's own, 126 and 127 a "
      "command\nthat cannot be started or is not there. JOB is an id, the unambiguous beginning of "
      "one, or\nlast; without it, the last one. TASK is like worker:0; a job's only task needs no "
      "name.\n\n"
      "Examples:\n  gangrun exec worker:0\n  gangrun exec worker:0 -- nvidia-smi\n");
  on_chosen(*command, [&request, options] {
    request.action = [&request, options](client::Context& context) {
      // No job's name has a colon.
      if (options->job.find(':') != std::string::npos) {
        return client::fail(
            context, base::invalid_argument(base::format(
                         "unexpected argument '{}'; put -- before the command", options->task)));
      }
      options->command = request.command;
      return client::exec(*options, context);
    };
  });
}

}  // namespace gangrun::cli
