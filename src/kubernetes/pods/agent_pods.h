#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/secret.h"
#include "job/cluster_spec.h"
#include "job/task_id.h"
#include "kubernetes/joined_files.h"
#include "kubernetes/pods/agent_parts.h"

// Pods with an agent of ours that runs each task's command have in them the agent or its parts, the
// job's configuration in a Secret, and a folder to write to.
namespace gangrun::kubernetes::pods {

struct ManifestInput;
struct Owner;

// The relay of a job's agents is a pod beside those of its tasks. No task type has such a name.
inline const job::TaskId kRelayTask{"relay pod", 0};
inline constexpr const char* kRelayContainer = "relay";
// The ports at which the relay listens for agents, and for its client at 127.0.0.1. Its pod has a
// network of its own.
inline constexpr std::uint16_t kRelayPort = 17400;
inline constexpr std::uint16_t kRelayClientPort = 17401;

// The agent's way into pods, and what they have for it.
struct AgentSource {
  base::Json volume{};  // a pod's, for kAgentFolder: the agent, or what it is made of
  // The parts of containers that run the agent of a task, or the relay: how their commands begin.
  base::Json task{};
  base::Json relay{};
  // A container that comes before those and fills the volume.
  std::optional<base::Json> copier{};
  std::shared_ptr<const AgentParts> maps{};  // that are made first; null: none
  // Pods go only to nodes of this one (architecture.h); empty: nobody knows.
  std::string architecture{};
  // The end of a sentence, for users, and what there is beside the tasks' pods where the client is
  // the master.
  std::string needs{};
  std::string relay_words{};
};
AgentSource by_config_maps(AgentParts parts);
AgentSource by_image(const std::string& image);

// The pods of a job with agents are made of this.
struct AgentPods {
  AgentSource source{};
  // The configuration of all agents, and the relay's token. Both are secret.
  base::Secret config{};
  base::Secret token{};
  // The way to the master; none: agents are told when they run.
  std::optional<job::Address> master{};
  // The master in a pod, counted from the job's first one: each has a Secret and pods of its own.
  // 0: the job's client.
  int master_number = 0;
};

// The Secret with the configuration and the token.
base::Json agent_secret(const ManifestInput& input, const AgentPods& agents, const Owner& owner);

// The part of a container that puts files together before the task begins: its command, and
// `mounts` with its own.
base::Json joining_container(const AgentPods& agents, const std::vector<JoinedFile>& files,
                             base::Json mounts);
// How others find an agent.
struct AgentReach {
  std::vector<std::uint16_t> hint_ports{};  // as hint_ports() gives them
  std::optional<job::Address> own{};        // for the other tasks; none: the agent sees to it
};

// The container's part of the task's pod: its command, the variables for the agent, its mounts.
base::Json agent_container(const AgentPods& agents, const job::TaskId& task, int attempt,
                           const AgentReach& reach);
// The relay's, which may have an image of its own.
base::Json relay_container(const AgentPods& agents);
// The volumes of both.
base::Json agent_volumes(const ManifestInput& input, const AgentPods& agents);
// Those of a job's master in a pod, which has a Secret of its own (master_names.h).
base::Json master_container(const ManifestInput& input, const AgentPods& agents);
base::Json master_volumes(const ManifestInput& input, const AgentPods& agents);

}  // namespace gangrun::kubernetes::pods
