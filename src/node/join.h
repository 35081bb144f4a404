#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "net/client.h"
#include "registry/agent_config.h"
#include "registry/join.h"

// The task of a job on Spark comes to it: `gangrun-agent join`, run on an executor.
namespace gangrun::node {

// All that it is told, and by standard input, as the secret is part of it.
inline constexpr std::size_t kMaxJoinInputBytes = std::size_t{4} << 20U;

struct JoinInput {
  net::Endpoint master;
  base::Secret secret;
  registry::JoinRequest request;
  std::string working_folder;
  std::vector<std::string> command;
  std::map<std::string, std::string> environment;  // the whole
  pid_t live_with = 0;                             // ends the task with it
  std::uint64_t start_ticks = 0;                   // of that process; 0: those that it has now
  std::string scratch;                    // a folder of the task alone, removed when it has ended
  std::optional<std::uint16_t> own_port;  // the task's first port, where it can be held
};

base::Result<JoinInput> join_input_from(std::string_view text);

// What the agent must know, from the master's answer and what only this side knows.
base::Result<registry::AgentConfig> agent_config_of(const JoinInput& input,
                                                    const base::Json& answer);

// The whole program: one line of JSON on standard output says what came of it, and the agent goes
// on in the background. Returns the exit status.
int run_join();

}  // namespace gangrun::node
