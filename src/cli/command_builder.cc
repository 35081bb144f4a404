#include "cli/command_builder.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <utility>
#include <variant>

#include "base/format.h"
#include "base/overloaded.h"
#include "base/strings.h"

namespace gangrun::cli {

CLI::App* add_command(CLI::App& app, const std::string& name, const std::string& summary) {
  CLI::App* command = app.add_subcommand(name, summary);
  begin_group(*command, std::string(kOptions));
  if (CLI::Option* help = command->get_help_ptr()) help->group(std::string(kOptions));
  return command;
}

void begin_group(CLI::App& command, const std::string& title) {
  command.option_defaults()->group(title);
}

void add_footer(CLI::App& command, const std::string& text) { command.footer(text); }

void on_chosen(CLI::App& command, std::function<void()> on_chosen) {
  command.callback(std::move(on_chosen));
}

void add_flag(CLI::App& command, const std::string& names, bool& target, const std::string& help) {
  command.add_flag(names, target, help);
}

void add_value(CLI::App& command, const std::string& names, std::optional<std::string>& target,
               const std::string& value, const std::string& help) {
  command
      .add_option_function<std::string>(
          names, [&target](const std::string& text) { target = text; }, help)
      ->type_name(value)
      ->take_last()
      ->allow_extra_args(false);
}

void add_list(CLI::App& command, const std::string& names, std::vector<std::string>& target,
              const std::string& value, const std::string& help) {
  command.add_option(names, target, help)
      ->type_name(value)
      ->expected(1)
      ->take_all()
      ->allow_extra_args(false);
}

void add_flags(CLI::App& command, const std::vector<client::Flag>& flags) {
  for (const client::Flag& flag : flags) {
    std::visit(
        base::Overloaded{[&](bool* target) { add_flag(command, flag.names, *target, flag.help); },
                         [&](std::optional<std::string>* target) {
                           add_value(command, flag.names, *target, flag.value, flag.help);
                         },
                         [&](std::vector<std::string>* target) {
                           add_list(command, flag.names, *target, flag.value, flag.help);
                         }},
        flag.target);
  }
}

void add_positional(CLI::App& command, const std::string& name, std::string& target,
                    bool required) {
  command.add_option(name, target)->required(required)->type_name(name);
}

void add_positionals(CLI::App& command, const std::string& name, std::vector<std::string>& target,
                     bool required) {
  command.add_option(name, target)->required(required)->type_name(name);
}

CommandModel model_of(const CLI::App& app) {
  CommandModel model;
  model.name = app.get_name();
  model.summary = app.get_description();
  model.footer = app.get_footer();
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_positional()) {
      const std::string name = option->get_type_name();
      model.positionals.push_back(option->get_required() ? name : base::format("[{}]", name));
      continue;
    }
    FlagModel flag;
    for (const std::string& name : option->get_snames()) flag.names.push_back("-" + name);
    for (const std::string& name : option->get_lnames()) flag.names.push_back("--" + name);
    if (option->get_items_expected_max() > 0) flag.value = option->get_type_name();
    flag.help = option->get_description();
    flag.group = option->get_group();
    model.flags.push_back(std::move(flag));
  }
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    model.commands.push_back(model_of(*command));
  }
  return model;
}

}  // namespace gangrun::cli
