#include "cli/display_flags.h"

#include "cli/command_builder.h"

namespace gangrun::cli {

void add_display_flags(CLI::App& command, client::DisplayOptions& options) {
  add_flag(command, "--json", options.json, "Print one JSON object a line");
  add_flag(command, "--logs", options.logs,
           "Print all of the tasks' output above the live table, not its last lines below");
  add_flag(command, "--no-logs", options.no_logs, "Do not print the tasks' output");
  add_flag(command, "-q,--quiet", options.quiet, "Print only the tasks' output and failures");
  add_flag(command, "-v,--verbose", options.verbose, "Print every change of every task");
}

base::Result<> check_display(const client::DisplayOptions& options) {
  if (options.quiet && options.verbose) {
    return base::invalid_argument("--quiet and --verbose exclude each other");
  }
  if (options.logs && options.no_logs) {
    return base::invalid_argument("--logs and --no-logs exclude each other");
  }
  return {};
}

}  // namespace gangrun::cli
