#pragma once

#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "base/log.h"
#include "base/result.h"

// The programs gangrun-agent and gangrun-pod-agent are tables of commands.
namespace gangrun::agent {

inline constexpr int kAnyWords = std::numeric_limits<int>::max();

// `PROGRAM NAME WORD...`
struct Command {
  std::string_view name;
  int least_words = 0;  // after the name
  int most_words = kAnyWords;
  // Returns the status of the program; none: these are not its words.
  std::optional<int> (*run)(int count, char** words) = nullptr;
};

struct Program {
  const char* name;
  const char* usage;
  std::span<const Command> commands;  // beside those that each of these programs has
};

// To standard error.
std::unique_ptr<base::Logger> logger_of(std::string_view what,
                                        base::LogLevel level = base::LogLevel::kInfo);

// The status of a program; a failure is told.
int status_of(const base::Result<>& ended, base::Logger& logger);

// The status of the program. Words that are none of its commands' get the usage, and status 2.
int run_program(const Program& program, int argc, char** argv);

}  // namespace gangrun::agent
