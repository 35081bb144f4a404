#include "cli/typed_flags.h"

#include <set>

#include "cli/help.h"

namespace gangrun::cli {

namespace {

// "--tail=5" and "-n5" have their values with them.
std::string name_in(const client::Command& command, const std::string& word) {
  constexpr std::size_t kShortLength = 2;
  const std::string name = word.substr(0, word.find('='));
  const bool is_long = word.starts_with("--");
  return is_long || flag_named(command, name) != nullptr ? name : word.substr(0, kShortLength);
}

}  // namespace

std::map<std::string, std::string> typed_flags(const client::Command& command,
                                               const std::vector<std::string>& words) {
  std::set<std::string> typed;
  for (const std::string& word : words) {
    if (word.starts_with('-')) typed.insert(name_in(command, word));
  }
  std::map<std::string, std::string> found;
  for (const client::Flag& flag : command.flags) {
    const std::vector<std::string> names = names_of(flag);
    std::vector<std::string> given;
    for (const std::string& name : names) {
      if (typed.contains(name)) given.push_back(name);
    }
    if (given.size() != 1) continue;
    for (const std::string& name : names) {
      if (name != given.front()) found[name] = given.front();
    }
  }
  return found;
}

}  // namespace gangrun::cli
