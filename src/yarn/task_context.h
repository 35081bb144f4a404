#pragma once

#include <map>
#include <string>
#include <vector>

#include "cluster/launcher.h"
#include "hadoop/records.h"
#include "job/spec.h"
#include "job/task_id.h"
#include "yarn/outputs_config.h"

namespace gangrun::yarn {

// Under which the agent finds its configuration among the container's credentials.
inline constexpr const char* kAgentConfigSecret = "gangrun.agent";

// The launch contexts of the containers of a job's tasks.
struct TaskContents {
  job::JobSpec spec;
  std::string job_id;
  std::string host;  // of the master, as agents and clients reach it
  // The parts that every container gets beside its credentials.
  std::map<std::string, hadoop::LocalResource> files{};
  // The further files of those of one task type.
  std::map<std::string, std::map<std::string, hadoop::LocalResource>> archives{};
  std::map<std::string, std::string> environment{};
  std::vector<std::string> agent_command{};  // with "{name}" for the task's name
  hadoop::Credentials credentials{};         // without the master's own token
  OutputsConfig outputs{};                   // for tasks that have some
};

// The container of one of them, on this node.
hadoop::LaunchContext task_context(const TaskContents& contents, const job::TaskId& task,
                                   const cluster::Launch& launch, const hadoop::NodeId& node);

}  // namespace gangrun::yarn
