#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "base/described.h"
#include "base/json.h"
#include "base/result.h"
#include "base/secret.h"
#include "job/task_id.h"
#include "wire/agent_config.h"

// The task of a job on Spark comes to it: `gangrun-agent join`, run on an executor.
namespace gangrun::agent {

// All that it is told, and by standard input, as the secret is part of it.
inline constexpr std::size_t kMaxJoinInputBytes = std::size_t{4} << 20U;

struct JoinInput {
  std::string host;  // of the master, as are the next three
  std::uint16_t port = 0;
  std::string fingerprint;
  base::Secret secret;
  job::TaskId task;
  int attempt = 0;              // as the place counts them
  std::string executor;         // see wire::JoinRequest
  std::string own_host;         // by which the other tasks know this machine
  std::string own_host_reason;  // why by this one
  std::string working_folder;
  std::vector<std::string> command;
  std::map<std::string, std::string> environment;  // the whole
  pid_t live_with = 0;                             // ends the task with it
  std::uint64_t start_ticks = 0;                   // of that process; 0: those that it has now
  std::string scratch;                    // a folder of the task alone, removed when it has ended
  std::optional<std::uint16_t> own_port;  // the task's first port, where it can be held

  static constexpr auto rows() {
    return std::tuple(
        GANGRUN_EACH(base::row, JoinInput, host, port, fingerprint, secret, task, attempt, executor,
                     own_host, own_host_reason, working_folder, command, environment, live_with),
        base::row_if_set("live_with_start_ticks", &JoinInput::start_ticks),
        base::row("scratch", &JoinInput::scratch), base::row("own_port", &JoinInput::own_port));
  }
  [[nodiscard]] base::Result<> complete() const;
};

base::Result<JoinInput> join_input_from(std::string_view text);

// The agent's configuration, from the master's answer and what only this side knows.
base::Result<wire::AgentConfig> agent_config_of(const JoinInput& input, const base::Json& answer);

// The whole program: one line of JSON on standard output says what came of it, and the agent goes
// on in the background. Returns the exit status.
int run_join();

}  // namespace gangrun::agent
