#include "cli/command_builder.h"

#include <CLI/CLI.hpp>
#include <string>
#include <variant>
#include <vector>

#include "base/overloaded.h"
#include "cli/help.h"

namespace gangrun::cli {

void add_arguments(CLI::App& app, const client::Command& command) {
  for (const client::Word& word : command.words) {
    std::visit(
        [&](auto* target) { app.add_option(name_of(word), *target)->required(word.is_needed); },
        word.target);
  }
  for (const client::Flag& flag : command.flags) {
    std::visit(
        base::Overloaded{
            [&](bool* target) {
              // The library has --help itself.
              if (target != nullptr) app.add_flag(flag.names, *target);
            },
            [&](std::optional<std::string>* target) {
              app.add_option_function<std::string>(
                     flag.names, [target](const std::string& text) { *target = text; })
                  ->take_last()
                  ->allow_extra_args(false);
            },
            [&](std::vector<std::string>* target) {
              app.add_option(flag.names, *target)->expected(1)->take_all()->allow_extra_args(false);
            }},
        flag.target);
  }
}

}  // namespace gangrun::cli
