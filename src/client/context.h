#pragma once

#include <functional>
#include <map>
#include <string>

#include "base/clock.h"
#include "client/console.h"
#include "client/exit_status.h"

namespace gangrun::client {

class Places;

// The things that main hands down to every command.
struct Context {
  const base::Clock& clock;
  base::Instant commanded_at;  // when the user gave the command
  Console& console;
  std::map<std::string, std::string> environment;
  std::string program;  // path of gangrun itself
  std::string folder;   // where it was called
  const Places& places;
  std::string system_folder{};  // "/etc", for the machine's file of defaults; empty: none
  // The name of a flag that was typed, by the name that an error begins with: "-n" for "--tail".
  std::map<std::string, std::string> typed_flags{};

  [[nodiscard]] std::string variable(const std::string& name) const {
    const auto found = environment.find(name);
    return found == environment.end() ? std::string() : found->second;
  }
};

// The work of a command once its flags are read.
using Action = std::function<ExitStatus(Context&)>;

}  // namespace gangrun::client
