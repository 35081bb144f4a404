#include "cli/command_builder.h"

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/format.h"
#include "base/overloaded.h"
#include "cli/help.h"
#include "job/units.h"

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
    std::visit(base::Overloaded{[&](std::optional<std::string>* target) {
                                  add_optional(app, name_of(word), *target);
                                },
                                [&](auto* target) { app.add_option(name_of(word), *target); }},
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
              add_optional(app, flag.names, *target)->take_last()->allow_extra_args(false);
            },
            [&](std::vector<std::string>* target) {
              app.add_option(flag.names, *target)->expected(1)->take_all()->allow_extra_args(false);
            }},
        flag.target);
  }
}

base::Result<std::vector<std::string>> clear_words(const client::Command& command,
                                                   const std::vector<std::string>& words) {
  std::vector<std::string> clear;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    const std::size_t sign = word.find('=');
    const std::string name = word.substr(0, sign);
    const client::Flag* flag = flag_named(command, name);
    const bool has_sign = sign != std::string::npos;
    const bool is_switch = flag != nullptr && flag->value.empty();
    if (is_switch && has_sign) {
      return base::invalid_argument(base::format("{} takes no value", name));
    }
    if (flag != nullptr && sign + 1 == word.size()) {
      clear.insert(clear.end(), {name, ""});
      continue;
    }
    clear.push_back(word);
    const bool is_value_next = flag != nullptr && !is_switch && !has_sign && i + 1 < words.size();
    if (!is_value_next) continue;
    const std::string& value = words[++i];
    if (flag_named(command, value.substr(0, value.find('='))) != nullptr) {
      return base::invalid_argument(
          base::format("{} needs a value, and '{}' is a flag; if it is meant: {}={}", name, value,
                       names_of(*flag).back(), value));
    }
    clear.push_back(value);
  }
  return clear;
}

base::Result<> take_words(const CLI::App& app, const client::Command& command,
                          const std::vector<std::string>& behind) {
  auto next = behind.begin();
  for (const client::Word& word : command.words) {
    const bool is_given = app.count(name_of(word)) > 0;
    if (next != behind.end() && (!is_given || is_list(word))) {
      std::visit(base::Overloaded{[&](std::vector<std::string>* target) {
                                    target->insert(target->end(), next, behind.end());
                                    next = behind.end();
                                  },
                                  [&](auto* target) { *target = *next++; }},
                 word.target);
    } else if (word.is_needed && !is_given) {
      return base::invalid_argument(base::format("{} is missing", name_of(word)));
    }
  }
  if (next == behind.end()) return {};
  return base::invalid_argument(base::format("unexpected argument {}", job::in_quotes(*next)));
}

}  // namespace gangrun::cli
