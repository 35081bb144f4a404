#include <memory>

#include "base/json.h"
#include "cli/commands.h"
#include "cli/doctor.h"
#include "cli/flags.h"

namespace gangrun::cli {

void add_doctor(CLI::App& app, Request& request) {
  CLI::App* command =
      add_command(app, "doctor", "Look at the local environment: what of it jobs can use.");
  const auto json = std::make_shared<bool>(false);
  add_flag(*command, "--json", *json, "Print a JSON object");
  add_footer(*command,
             "Exits with 0 if jobs can run, else with 3.\n\nExample:\n  gangrun doctor\n");
  on_chosen(*command, [&request, json] {
    request.action = [json](Context& context) {
      const auto findings = examine(context);
      const auto size = context.console.size();
      if (*json) {
        context.console.out(base::dump_json(findings_json(findings)) + "\n");
      } else {
        context.console.out(findings_lines(findings, size ? size->columns : 0));
      }
      return can_run_jobs(findings) ? ExitStatus::kSuccess : ExitStatus::kCouldNotStart;
    };
  });
}

}  // namespace gangrun::cli
