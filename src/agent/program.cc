#include "agent/program.h"

#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "agent/exec_helper.h"
#include "agent/stacks.h"
#include "base/format.h"
#include "process/open_files.h"
#include "process/signals.h"

namespace gangrun::agent {
namespace {

std::optional<int> run_look_of(int count, char** words) { return run_look({words, words + count}); }

std::optional<int> run_beside(int, char** words) { return run_exec_helper(words[0]); }

// An agent calls these of its own program.
constexpr Command kOwnCommands[] = {{kLookCommand, 1, kAnyWords, &run_look_of},
                                    {kBesideCommand, 1, 1, &run_beside}};

const Command* find(std::span<const Command> commands, std::string_view name, int words) {
  const auto found = std::ranges::find_if(commands, [&](const Command& command) {
    return command.name == name && command.least_words <= words && words <= command.most_words;
  });
  return found == commands.end() ? nullptr : &*found;
}

}  // namespace

std::unique_ptr<base::Logger> logger_of(std::string_view what, base::LogLevel level) {
  return base::stderr_logger(base::format("gangrun-agent {}", what), level);
}

int status_of(const base::Result<>& ended, base::Logger& logger) {
  if (ended.ok()) return 0;
  logger.error("{}", ended.error().message);
  return 1;
}

int run_program(const Program& program, int argc, char** argv) {
  const auto have_files = process::open_standard_files();
  process::survive_lost_output();
  if (!have_files.ok()) return status_of(have_files, *logger_of("start"));
  const std::string_view name = argc > 1 ? argv[1] : "";
  if (argc == 2 && name == "--version") {
    std::printf("%s %s\n", program.name, GANGRUN_VERSION);
    return 0;
  }
  const int words = std::max(argc - 2, 0);
  const Command* command = find(program.commands, name, words);
  if (command == nullptr) command = find(kOwnCommands, name, words);
  const auto status = command == nullptr ? std::nullopt : command->run(words, argv + 2);
  if (!status) std::fputs(program.usage, stderr);
  return status.value_or(2);
}

}  // namespace gangrun::agent
