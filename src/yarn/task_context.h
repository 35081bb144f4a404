#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/described.h"
#include "cluster/launcher.h"
#include "hadoop/records.h"
#include "job/spec.h"
#include "job/task_id.h"

namespace gangrun::yarn {

// The name of the agent's configuration among the container's credentials.
inline constexpr const char* kAgentConfigSecret = "gangrun.agent";

// The name of its OutputsConfig there; only agents of tasks that have outputs find one.
inline constexpr const char* kOutputsSecret = "gangrun.outputs";

// The facts that the agent of a task needs to write the task's outputs to the cluster's file
// system.
struct OutputsConfig {
  std::string folder;  // of the job's outputs there; a folder of the task is made in it
  std::string user;    // whose job it is
  // The properties of Hadoop's configuration, as the client has it.
  std::map<std::string, std::string> hadoop{};
  std::string token_service{};                 // on a cluster with Kerberos; else empty
  std::optional<std::uint64_t> limit_bytes{};  // of all outputs of a run of the task

  static constexpr bool kIsOpen = true;
  GANGRUN_ROWS(OutputsConfig, folder, user, hadoop, token_service, limit_bytes);

  friend bool operator==(const OutputsConfig&, const OutputsConfig&) = default;
};

// The launch contexts of the containers of a job's tasks.
struct TaskContents {
  job::JobSpec spec;
  std::string job_id;
  std::string host;  // of the master, as agents and clients reach it
  // The parts that every container gets beside its credentials.
  hadoop::LocalResources files{};
  // The further files of those of one task type.
  std::map<std::string, hadoop::LocalResources> archives{};
  std::map<std::string, std::string> environment{};
  std::vector<std::string> agent_command{};  // with "{name}" for the task's name
  hadoop::Credentials credentials{};         // without the master's own token
  OutputsConfig outputs{};                   // for tasks that have some
};

// The container of one of them, on this node.
hadoop::LaunchContext task_context(const TaskContents& contents, const job::TaskId& task,
                                   const cluster::Launch& launch, const hadoop::NodeId& node);

}  // namespace gangrun::yarn
