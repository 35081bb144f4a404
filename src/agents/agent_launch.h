#pragma once

#include <cstdint>
#include <string>

#include "base/secret.h"
#include "job/spec.h"
#include "job/task_id.h"
#include "wire/agent_config.h"

namespace gangrun::agents {

// The reader of the lines that tasks write, beside the file that each is written to.
enum class LinesFor {
  kNobody,    // but the last one, for people who ask how a task does
  kClients,   // of other machines, who ask the registry for them
  kLogFolder  // of the master, as no task can write there
};

// All that agents must know of their job.
struct AgentLaunch {
  job::JobSpec spec;
  std::string job_id;
  base::Secret secret;
  std::string host;         // by which tasks know the master's machine
  std::string host_reason;  // why by this one
  // They come to the master by it; empty: by TLS, to an address that their place knows.
  std::string socket_path;
  std::string fingerprint;     // of the master's certificate; empty: it serves no TLS
  std::string working_folder;  // of the user's commands
  std::string log_folder;      // of the tasks' output
  // Whether agents serve tunnels though they come by the socket, which then leads to them from
  // elsewhere; the place brings their logs.
  bool are_away = false;
  bool are_fed = false;                // see AgentConfig
  bool are_called_by_network = false;  // likewise
  LinesFor lines = LinesFor::kNobody;
};

// For the agent of an attempt of a task. `tls_port` is where the master serves agents of other
// hosts.
wire::AgentConfig agent_config_of(const AgentLaunch& launch, const job::TaskId& task, int attempt,
                                  std::uint16_t tls_port);

}  // namespace gangrun::agents
