#include "process/agent_processes.h"

#include <unistd.h>

#include <map>

#include "base/files.h"
#include "base/format.h"
#include "process/proc_fs.h"

namespace gangrun::process {

namespace {

constexpr std::size_t kMaxCommandLineBytes = std::size_t{16} << 10U;

// Everybody may give a process such a name. Of root we do not know whose jobs he looks at.
bool is_ours(pid_t pid) {
  if (::geteuid() == 0) return true;
  const std::string status = read_proc(pid, "status");
  return status_value(status, "Uid").starts_with(base::format("{}\t", ::getuid()));
}

bool is_of_job(pid_t pid, std::string_view prefix) {
  const auto text = base::read_file(base::format("/proc/{}/cmdline", pid), kMaxCommandLineBytes);
  if (!text.ok()) return false;
  const std::string wanted = base::format("{}--name{}{}", '\0', '\0', prefix);
  return text->find(wanted) != std::string::npos && is_ours(pid);
}

}  // namespace

std::string agent_name(std::string_view job_id, std::string_view task_type, int index) {
  return base::format("{}.{}.{}", job_id, task_type, index);
}

std::vector<AgentProcesses> agent_processes(std::string_view job_id) {
  const std::string prefix = base::format("{}.", job_id);
  std::map<pid_t, pid_t> parents;
  for (const pid_t pid : all_processes()) {
    if (!is_of_job(pid, prefix)) continue;
    const auto stat = read_stat(pid);
    if (stat && stat->alive()) parents[pid] = stat->parent;
  }
  std::vector<AgentProcesses> found;
  std::set<pid_t> starting;
  for (const auto& [pid, parent] : parents) {
    const auto above = parents.find(parent);
    // A process that an agent starts has the agent's command line until it executes its own
    // program.
    const bool is_starting = above != parents.end() && parents.contains(above->second);
    if (is_starting) starting.insert(pid);
    if (above != parents.end() && !is_starting) found.push_back({parent, pid});
  }
  for (const auto& [pid, parent] : parents) {
    bool listed = starting.contains(pid);
    for (const AgentProcesses& pair : found) {
      listed = listed || pair.guardian == pid || pair.agent == pid;
    }
    // A guardian whose agent has gone has no more to do than to end; one alone is an agent.
    if (!listed) found.push_back({0, pid});
  }
  return found;
}

std::vector<pid_t> agents_of_others(const std::vector<AgentProcesses>& all,
                                    const std::set<pid_t>& ours) {
  std::vector<pid_t> others;
  for (const AgentProcesses& processes : all) {
    if (processes.agent == 0 || ours.contains(processes.agent)) continue;
    if (!ours.contains(processes.guardian)) others.push_back(processes.agent);
  }
  return others;
}

}  // namespace gangrun::process
