#pragma once

#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "base/described.h"
#include "base/described_json.h"
#include "wire/exec_frames.h"

namespace gangrun::agent {

// The hidden command of this program that runs one command beside a task, and its word for where:
// as a child of the agent, or in the task's container.
inline constexpr std::string_view kBesideCommand = "beside";
inline constexpr std::string_view kBesideAgent = "agent";
inline constexpr std::string_view kInsideContainer = "inside";

// The first message to it; those of wire/exec_frames.h follow.
struct ExecStart {
  wire::ExecBegin begin;
  std::vector<std::string> environment;  // "NAME=value"
  bool adds_environment = false;         // to the helper's own: that of the image
  std::string folder{};

  static constexpr auto rows() {
    return std::tuple(base::row("begin", &ExecStart::begin),
                      base::row("environment", &ExecStart::environment),
                      base::row_if_set("adds_environment", &ExecStart::adds_environment),
                      base::row("folder", &ExecStart::folder));
  }
};

// Without a command, the user's shell where that is there, else /bin/sh.
std::vector<std::string> command_or_shell(const wire::ExecBegin& begin,
                                          const std::vector<std::string>& environment);

// The work of `gangrun-agent beside WHERE`: runs a command, by the messages of standard input and
// output. When either the command or standard input ends, everything that the command has started
// is killed. The status of the program. To be called first in main.
int run_exec_helper(std::string_view where);

}  // namespace gangrun::agent
