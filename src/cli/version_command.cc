#include <memory>

#include "base/format.h"
#include "base/json.h"
#include "cli/commands.h"
#include "cli/flags.h"

namespace gangrun::cli {

void add_version(CLI::App& app, Request& request) {
  CLI::App* command = add_command(app, "version", "Show the version of this program.");
  const auto json = std::make_shared<bool>(false);
  add_flag(*command, "--json", *json, "Print JSON");
  add_footer(*command, "Example:\n  gangrun version --json\n");
  on_chosen(*command, [&request, json] {
    request.action = [json](Context& context) {
      const base::Json value = {{"version", GANGRUN_VERSION}};
      context.console.out(*json ? base::dump_json(value) + "\n"
                                : base::format("gangrun {}\n", GANGRUN_VERSION));
      return ExitStatus::kSuccess;
    };
  });
}

}  // namespace gangrun::cli
