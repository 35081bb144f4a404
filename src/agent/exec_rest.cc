#include "agent/exec_rest.h"

#include <unistd.h>

#include <algorithm>
#include <set>

#include "base/files.h"
#include "base/format.h"
#include "base/random.h"
#include "process/kill_processes.h"
#include "process/proc_fs.h"

namespace gangrun::agent {

namespace {

constexpr std::size_t kMaxEnvironmentBytes = std::size_t{8} << 20U;

bool has_mark(pid_t pid, const std::string& mark) {
  const auto environment =
      base::read_file(base::format("/proc/{}/environ", pid), kMaxEnvironmentBytes);
  if (!environment.ok()) return false;
  const std::string whole = base::format("{}={}", kExecVariable, mark) + '\0';
  const std::size_t at = ('\0' + *environment).find('\0' + whole);
  return at != std::string::npos;
}

// Those that have the mark, and with them whoever is in their sessions or descends from them: a
// program may have emptied its environment.
std::vector<pid_t> marked(const process::Containment& containment, const std::string& mark) {
  const std::vector<pid_t> all = containment.processes();
  std::set<pid_t> found;
  std::set<pid_t> sessions;
  for (const pid_t pid : all) {
    if (!has_mark(pid, mark)) continue;
    const auto stat = process::read_stat(pid);
    if (!stat) continue;
    found.insert(pid);
    sessions.insert(stat->session);
    for (const pid_t below : process::descendants_of(pid)) found.insert(below);
  }
  if (found.empty()) return {};
  const auto own = process::read_stat(::getpid());
  if (own) sessions.erase(own->session);
  for (const pid_t pid : all) {
    const auto stat = process::read_stat(pid);
    if (stat && sessions.contains(stat->session)) found.insert(pid);
  }
  return {found.begin(), found.end()};
}

}  // namespace

std::string exec_mark(std::uint64_t number) {
  return base::format("{}.{}.{:x}", ::getpid(), number, base::random_number<std::uint64_t>());
}

base::Result<> kill_exec_rest(const process::Containment& containment, const std::string& mark,
                              const std::vector<pid_t>& own_children, base::Instant deadline) {
  process::Victims victims;
  victims.list = [&] { return marked(containment, mark); };
  victims.is_victim = [&](pid_t pid) {
    const std::vector<pid_t> now = marked(containment, mark);
    return std::ranges::find(now, pid) != now.end();
  };
  return process::kill_processes(victims, own_children, deadline);
}

}  // namespace gangrun::agent
