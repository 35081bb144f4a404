#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/command_model.h"

namespace CLI {
class App;
}  // namespace CLI

namespace gangrun::cli {

// The ways in which a command takes flags; what stays unset was not given.
void add_flag(CLI::App& command, const std::string& names, bool& target, const std::string& help);
void add_value(CLI::App& command, const std::string& names, std::optional<std::string>& target,
               const std::string& value, const std::string& help);
// May be given several times, with one value each.
void add_list(CLI::App& command, const std::string& names, std::vector<std::string>& target,
              const std::string& value, const std::string& help);
void add_positional(CLI::App& command, const std::string& name, std::string& target, bool required);

CommandModel model_of(const CLI::App& app);

}  // namespace gangrun::cli
