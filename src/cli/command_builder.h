#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cli/command_model.h"
#include "client/command.h"

namespace CLI {  // NOLINT(readability-identifier-naming): the library's name
class App;
}  // namespace CLI

namespace gangrun::cli {

// How commands are described; only here is seen with which library. `on_chosen` is called when the
// command was named and its flags have been read.
CLI::App* add_command(CLI::App& app, const std::string& name, const std::string& summary);
void add_footer(CLI::App& command, const std::string& text);
void on_chosen(CLI::App& command, std::function<void()> on_chosen);

// Flags that are added from now on stand below `title` in the command's help, with those there
// already.
void begin_group(CLI::App& command, const std::string& title);

// The ways in which a command takes flags; what stays unset was not given. Of a value that is given
// twice the last counts.
void add_flag(CLI::App& command, const std::string& names, bool& target, const std::string& help);
void add_value(CLI::App& command, const std::string& names, std::optional<std::string>& target,
               const std::string& value, const std::string& help);
// May be given several times, with one value each.
void add_list(CLI::App& command, const std::string& names, std::vector<std::string>& target,
              const std::string& value, const std::string& help);
void add_flags(CLI::App& command, const std::vector<client::Flag>& flags);
void add_positional(CLI::App& command, const std::string& name, std::string& target, bool required);
// Any number of words; at least one where they are required.
void add_positionals(CLI::App& command, const std::string& name, std::vector<std::string>& target,
                     bool required);

CommandModel model_of(const CLI::App& app);

}  // namespace gangrun::cli
