#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"

namespace gangrun::process {

// The first process of a job on a host, where the host permits a PID namespace: it starts the
// agents of that job there, by fork, so that an agent costs no program start. Agents and tasks
// share the namespace, in which process numbers are unique, and the starter's death takes all of
// them. When an agent ends, however it ends, the starter kills what is left of its task, and then
// tells.
//
// It takes orders on a socket (starter_messages.h) from the cluster that started it. When
// that is gone, it ends, or waits at `path` for the next one for as long as it has agents.
//
// Outside of the namespace a guardian waits for its end, passes signals on, and ends as it ended;
// the guardian's death kills it too.
struct StarterOptions {
  int socket = -1;   // to the cluster, a PacketSocket
  std::string path;  // of a socket for the next one; empty: there will be none
};

// The work of an agent, with the arguments that its start came with, and the /proc of the namespace
// outside; its exit status.
using AgentMain =
    std::function<int(const std::vector<std::string>& arguments, base::UniqueFd outer_proc)>;

// To be called first in main, with one thread and no child. Every agent is a copy of this process,
// which returns from here only after an error; what is prepared before is there in each of them.
base::Result<> run_starter(const StarterOptions& options, const AgentMain& agent);

// As /proc shows it: of the starter itself, not of its guardian.
inline constexpr const char* kStarterName = "gangrun-starter";

// An argument of at least this length, the last one of a starter, makes room for what its agents
// show as their command line.
inline constexpr std::size_t kRoomForCommandLine = 512;

}  // namespace gangrun::process
