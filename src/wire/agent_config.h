#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <tuple>

#include "base/described.h"
#include "base/result.h"
#include "base/secret.h"
#include "job/gpus.h"
#include "job/spec.h"
#include "job/task_id.h"
#include "jobfile/described_job.h"

namespace gangrun::wire {

// No more than so much of a configuration is read.
inline constexpr std::size_t kMaxAgentConfigBytes = std::size_t{4} << 20U;

// Everything that an agent must know before its first session. It holds the job's secret, so it is
// handed over by an inherited descriptor or a 0600 file.
struct AgentConfig {
  std::string job_id;
  job::JobSpec spec;
  job::TaskId task;
  int attempt = 1;
  // The master: a socket on this machine, or a host and port with the certificate's fingerprint.
  std::string socket_path;
  std::string master_host;
  std::uint16_t master_port = 0;
  std::string fingerprint;
  base::Secret secret;
  std::string host;         // by which the other tasks know this one's machine
  std::string host_reason;  // why by this one
  std::optional<std::uint16_t> wanted_port;
  std::string working_folder;
  std::string log_prefix;  // of the task's output: ".out" and ".err" are added
  // The file in which the agent leaves its last words, for a master that comes after it has ended;
  // empty: none. See job/last_words.h.
  std::string words_file;
  // Whether who ends the agent by a signal tells the master why: then the agent does not.
  bool place_tells_end = false;
  // Whether the agent serves the rendezvous whatever the framework: the task is fed by it.
  bool is_fed = false;
  // Whether users who want a tunnel are elsewhere, though the master is reached by a socket.
  bool serves_tunnels = false;
  // Whether the agent is the first process of a pod. Then it may wait for its master until its
  // whole gang has a place, whoever comes to it comes by the pod's loopback interface, and the
  // task's output goes to the agent's own, which is the pod's log, and to no file.
  bool in_pod = false;
  // Whether a master of the job in another pod may call the agent: then that, too, comes by the
  // pod's address.
  bool is_called_by_network = false;
  // Whether the master has no use for the task's lines but the last one: they come another way.
  bool sends_last_line_only = false;
  // Whether the agent fetches the job's files from its master before the task's first run.
  bool fetches_files = false;
  // The GPUs that are this task's alone; absent where who starts the agent gives none out.
  std::optional<job::Gpus> gpus;

  static constexpr bool kIsOpen = true;
  static constexpr auto rows() {
    return std::tuple(
        GANGRUN_EACH(base::row, AgentConfig, job_id, spec, task, attempt, secret, host, host_reason,
                     working_folder, log_prefix),
        base::row_if_set("socket_path", &AgentConfig::socket_path),
        base::row_when(is_by_tls, "master_host", &AgentConfig::master_host),
        base::row_when(is_by_tls, "master_port", &AgentConfig::master_port),
        base::row_when(is_by_tls, "fingerprint", &AgentConfig::fingerprint),
        base::row_if_set("words_file", &AgentConfig::words_file),
        base::row("wanted_port", &AgentConfig::wanted_port),
        GANGRUN_EACH(base::row_if_set, AgentConfig, place_tells_end, is_fed, serves_tunnels, in_pod,
                     is_called_by_network, sends_last_line_only, fetches_files),
        base::row("gpus", &AgentConfig::gpus));
  }
  // Whether the job has the task.
  [[nodiscard]] base::Result<> complete() const;
  static bool is_by_tls(const AgentConfig& config) { return config.socket_path.empty(); }
};

// From a path or, as "/proc/self/fd/N", an inherited descriptor.
base::Result<AgentConfig> read_agent_config(const std::string& path);

}  // namespace gangrun::wire
