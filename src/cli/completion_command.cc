#include <memory>
#include <utility>

#include "cli/command_builder.h"
#include "cli/commands.h"
#include "cli/completion.h"
#include "places/places.h"

namespace gangrun::cli {

void add_completion(CLI::App& app, Request& request) {
  CLI::App* command =
      add_command(app, "completion", "Print a script for command-line completion in a shell.");
  const auto shell = std::make_shared<std::string>();
  add_positional(*command, "bash|zsh|fish", *shell, true);
  add_footer(*command, "Example (in ~/.bashrc):\n  source <(gangrun completion bash)\n");
  on_chosen(*command, [&app, &request, shell] {
    // The model is made now: the application does not outlive the reading of the command line.
    CommandModel model = model_of(app);
    for (const client::Command& program : places::programs(request.places.rules())) {
      model.own_names.push_back(program.name);
    }
    request.action = [shell, model = std::move(model)](client::Context& context) {
      const auto script = completion_script(*shell, model);
      if (!script.ok()) return fail(context, script.error());
      context.console.out(*script);
      return client::ExitStatus::kSuccess;
    };
  });
}

}  // namespace gangrun::cli
