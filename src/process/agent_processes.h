#pragma once

#include <sys/types.h>

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace gangrun::process {

// The value of --name of an agent and its guardian, by which they are known among the processes of
// this machine.
std::string agent_name(std::string_view job_id, std::string_view task_type, int index);

// A task of a job as its processes show it.
struct AgentProcesses {
  pid_t guardian = 0;  // 0: has ended
  pid_t agent = 0;     // 0: has ended, or has not been forked
};

// All living agents and guardians of a job of this user on this machine, whoever started them, and
// for root of any user. A child that an agent with a guardian has forked and not yet executed is
// none of them.
std::vector<AgentProcesses> agent_processes(std::string_view job_id);

// Those agents, living ones, of which neither itself nor its guardian is in `ours`.
std::vector<pid_t> agents_of_others(const std::vector<AgentProcesses>& all,
                                    const std::set<pid_t>& ours);

}  // namespace gangrun::process
