#include "process/kill_processes.h"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <optional>
#include <utility>

#include "base/format.h"
#include "process/proc_fs.h"
#include "process/wait_for.h"

namespace gangrun::process {

namespace {

// How long one round waits for the ends of those it has killed before it looks again.
constexpr base::milliseconds kMaxRound(100);
// Descriptors held at once; the rest is awaited in the next round.
constexpr std::size_t kMaxAwaited = 256;
constexpr std::size_t kMaxNamedSurvivors = 10;

bool contains(const std::vector<pid_t>& pids, pid_t pid) {
  return std::find(pids.begin(), pids.end(), pid) != pids.end();
}

// The first of our ended children, left as it is.
std::optional<pid_t> ended_child() {
  siginfo_t info{};
  if (::waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid == 0) {
    return std::nullopt;
  }
  return info.si_pid;
}

// The ids of the process that kills.
struct Own {
  pid_t group = 0;
  pid_t session = 0;
};

// The process group to kill with a victim, so that one that forks and ends all the time does not
// stay a step ahead: the kernel holds back a fork while a signal to its group is pending. 0 where
// others may be in it. A session that is not ours was made by one of the task, and so was a group
// whose leader is one, or has ended.
pid_t group_of_victim(pid_t pid, const Victims& victims, const Own& own) {
  const auto stat = read_stat(pid);
  if (!stat || stat->group <= 1 || stat->group == own.group) return 0;
  if (stat->session != own.session || stat->group == pid) return stat->group;
  const auto leader = read_stat(stat->group);
  return !leader || !leader->alive() || victims.is_victim(stat->group) ? stat->group : 0;
}

base::Error survivors_error(const std::vector<pid_t>& survivors) {
  if (survivors.empty()) {
    return base::deadline_exceeded("processes that fork and end all the time could not be caught");
  }
  std::vector<std::string> named;
  for (const pid_t pid : survivors) {
    if (named.size() == kMaxNamedSurvivors) {
      named.emplace_back("…");
      break;
    }
    const auto stat = read_stat(pid);
    named.push_back(stat ? fmt::format("{} ({}, state {})", pid, stat->name, stat->state)
                         : fmt::format("{}", pid));
  }
  return base::deadline_exceeded(fmt::format("{} {} survived being killed: {}", survivors.size(),
                                             survivors.size() == 1 ? "process" : "processes",
                                             fmt::join(named, ", ")));
}

}  // namespace

std::vector<pid_t> living(const std::vector<pid_t>& pids) {
  std::vector<pid_t> found;
  for (const pid_t pid : pids) {
    const auto stat = read_stat(pid);
    // Hidden from us is not dead.
    if (stat ? stat->alive() : (::kill(pid, 0) == 0 || errno == EPERM)) found.push_back(pid);
  }
  return found;
}

void reap_orphans(const std::vector<pid_t>& own_children) {
  while (const auto child = ended_child()) {
    if (contains(own_children, *child)) {
      // It hides those that come after it until its owner reaps it.
      for (const pid_t other : children_of(::getpid())) {
        if (!contains(own_children, other)) ::waitpid(other, nullptr, WNOHANG);
      }
      return;
    }
    ::waitpid(*child, nullptr, WNOHANG);
  }
}

std::vector<ProcessHandle> kill_once(const Victims& victims, const std::vector<pid_t>& alive) {
  if (victims.kill_whole) victims.kill_whole();
  const Own own{::getpgrp(), ::getsid(0)};
  std::vector<ProcessHandle> killed;
  for (const pid_t pid : alive) {
    ProcessHandle handle = ProcessHandle::open(pid);
    // From here on it cannot mean another process; whether it is one of ours is asked again.
    if (!handle.valid() || !victims.is_victim(pid)) continue;
    const pid_t group = group_of_victim(pid, victims, own);
    // It was alive until now, so that the group was its own.
    if (handle.signal(SIGKILL) && group != 0) (void)::kill(-group, SIGKILL);
    if (killed.size() < kMaxAwaited) killed.push_back(std::move(handle));
  }
  return killed;
}

base::Result<> kill_processes(const Victims& victims, const std::vector<pid_t>& own_children,
                              base::Instant deadline) {
  std::vector<pid_t> known_ended;
  while (true) {
    reap_orphans(own_children);
    std::vector<pid_t> listed = victims.list();
    const std::vector<pid_t> alive = living(listed);
    // One that ended while the list was made may have forked before: its child is not on the list.
    const auto had_ended = [&known_ended](pid_t pid) { return contains(known_ended, pid); };
    if (alive.empty() && std::all_of(listed.begin(), listed.end(), had_ended)) {
      // Some may have ended since the start of this round.
      reap_orphans(own_children);
      return {};
    }
    const bool is_first_look = known_ended.empty();
    known_ended = alive.empty() ? std::move(listed) : std::vector<pid_t>();
    const base::Instant now = std::chrono::steady_clock::now();
    if (now >= deadline && !(alive.empty() && is_first_look)) return survivors_error(alive);
    const std::vector<ProcessHandle> awaited = kill_once(victims, alive);
    const base::Instant round_end = std::min(deadline, now + kMaxRound);
    for (const ProcessHandle& handle : awaited) {
      if (!wait_readable(handle.end_fd(), round_end)) break;
    }
  }
}

}  // namespace gangrun::process
