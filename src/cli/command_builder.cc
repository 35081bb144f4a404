#include "cli/command_builder.h"

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/overloaded.h"
#include "cli/help.h"

namespace gangrun::cli {

namespace {

CLI::Option* add_optional(CLI::App& app, const std::string& name,
                          std::optional<std::string>& target) {
  return app.add_option_function<std::string>(
      name, [&target](const std::string& text) { target = text; });
}

}  // namespace

void add_arguments(CLI::App& app, const client::Command& command) {
  for (const client::Word& word : command.words) {
    CLI::Option* option = std::visit(
        base::Overloaded{[&](std::optional<std::string>* target) {
                           return add_optional(app, name_of(word), *target);
                         },
                         [&](auto* target) { return app.add_option(name_of(word), *target); }},
        word.target);
    option->required(word.is_needed);
  }
  for (const client::Flag& flag : command.flags) {
    std::visit(
        base::Overloaded{
            [&](bool* target) {
              // The library has --help itself.
              if (target != nullptr) app.add_flag(flag.names, *target);
            },
            [&](std::optional<std::string>* target) {
              add_optional(app, flag.names, *target)->take_last()->allow_extra_args(false);
            },
            [&](std::vector<std::string>* target) {
              app.add_option(flag.names, *target)->expected(1)->take_all()->allow_extra_args(false);
            }},
        flag.target);
  }
}

}  // namespace gangrun::cli
