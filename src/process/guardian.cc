#include "process/guardian.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <climits>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/format.h"
#include "process/proc_fs.h"
#include "process/signals.h"

namespace gangrun::process {

namespace {

// Longer than this the guardian does not try to kill what does not die.
constexpr base::seconds kMaxKilling(60);
constexpr base::seconds kMaxGuardianRemoval(5);
// The remover gives up before, and says why.
constexpr base::seconds kMaxRemovingContainers(70);
// How long an agent that is to end may take to kill its processes and end by itself.
constexpr base::seconds kMaxAgentsEnd(3);

void complain(const base::Error& error) {
  const std::string line = fmt::format("gangrun guardian: {}\n", error.message);
  if (::write(STDERR_FILENO, line.data(), line.size()) < 0) return;
}

// The pipes to the agent and the remover keep working, and so do the descriptors that are to last;
// what else the program was started with is the agent's alone.
void drop_descriptors(GuardianState& state) {
  std::vector<std::pair<int, base::UniqueFd*>> kept;
  for (base::UniqueFd* fd : {&state.alive, &state.remover.order, &state.remover.done}) {
    if (fd->valid()) kept.emplace_back(fd->get(), fd);
  }
  for (const int fd : state.lasting_fds) kept.emplace_back(fd, nullptr);
  // In their order each moves down, so that none takes the place of one that is still to move.
  std::sort(kept.begin(), kept.end());
  int next = STDERR_FILENO;
  for (const auto& [fd, owner] : kept) {
    if (fd == ++next) continue;
    if (::dup3(fd, next, O_CLOEXEC) == next && owner != nullptr) owner->reset(next);
  }
  close_descriptors(next + 1, INT_MAX);
}

// The agent's wait status once it has ended; other children are orphans of the task.
std::optional<int> reap_agent(pid_t agent) {
  std::optional<int> ended;
  int status = 0;
  while (true) {
    const pid_t pid = ::waitpid(-1, &status, WNOHANG);
    if (pid == agent) ended = status;
    if (pid == 0 || (pid < 0 && errno != EINTR)) return ended;
  }
}

[[noreturn]] void end_as(int status) {
  if (WIFEXITED(status)) ::_exit(WEXITSTATUS(status));
  const int number = WTERMSIG(status);
  const rlimit no_core{.rlim_cur = 0, .rlim_max = 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
  ::signal(number, SIG_DFL);
  sigset_t one;
  ::sigemptyset(&one);
  ::sigaddset(&one, number);
  ::kill(::getpid(), number);
  ::pthread_sigmask(SIG_UNBLOCK, &one, nullptr);
  ::_exit(128 + number);
}

void kill_processes_left(const GuardianState& state) {
  const base::Instant now = std::chrono::steady_clock::now();
  // A PID namespace has died with its first process.
  if (state.level == Level::kPidNamespace) return;
  const auto killed =
      kill_processes(victims_of(state.level, state.cgroup, ::getpid()), {}, now + kMaxKilling);
  if (!killed.ok()) complain(killed.error());
  if (!state.cgroup) return;
  const auto removed = state.cgroup->remove(std::chrono::steady_clock::now() + kMaxGuardianRemoval);
  if (!removed.ok()) complain(removed.error());
}

// `agent_saw_to_it`: it has removed the containers before it ended.
void kill_the_rest(GuardianState& state, bool agent_saw_to_it) {
  kill_processes_left(state);
  const auto removed = order_removal(state.remover, agent_saw_to_it,
                                     std::chrono::steady_clock::now() + kMaxRemovingContainers);
  if (!removed.ok()) complain(removed.error());
}

void remove_folder(const std::string& path) {
  if (path.empty()) return;
  std::error_code failed;
  std::filesystem::remove_all(path, failed);
  if (failed) complain(base::from_errno(failed.value(), fmt::format("remove {}", path)));
}

bool parent_is_gone(const GuardianState& state) {
  return state.parent_to_die_with != 0 && ::getppid() != state.parent_to_die_with;
}

// Waits for the agent's end or the parent's, for as long as the task lives; gives the agent's wait
// status, or none. The one wait without a time limit: the limits are kept by agent and master.
std::optional<int> wait_for_an_end(const GuardianState& state) {
  const sigset_t awaited = awaited_signals();
  while (true) {
    if (const auto status = reap_agent(state.agent)) return status;
    if (parent_is_gone(state)) return std::nullopt;
    const int number = ::sigwaitinfo(&awaited, nullptr);
    if (number > 0 && number != SIGCHLD && !parent_is_gone(state)) ::kill(state.agent, number);
  }
}

// The agent's wait status; none where it has not ended in time. SIGCHLD is blocked.
std::optional<int> await_agent(pid_t agent, base::Duration limit) {
  sigset_t awaited;
  ::sigemptyset(&awaited);
  ::sigaddset(&awaited, SIGCHLD);
  const base::Instant deadline = std::chrono::steady_clock::now() + limit;
  while (true) {
    if (const auto status = reap_agent(agent)) return status;
    const base::Duration left = deadline - std::chrono::steady_clock::now();
    if (left <= base::Duration::zero()) return std::nullopt;
    const auto whole = std::chrono::floor<std::chrono::seconds>(left);
    const timespec pause{.tv_sec = whole.count(), .tv_nsec = (left - whole).count()};
    ::sigtimedwait(&awaited, nullptr, &pause);
  }
}

// Makes the agent end, and gives its wait status. It is asked first, by the end of our pipe: then
// each of us two still stands in for the other, should one be killed meanwhile.
int end_agent(GuardianState& state) {
  state.alive.reset();
  if (state.level != Level::kPidNamespace) {
    if (const auto status = await_agent(state.agent, kMaxAgentsEnd)) return *status;
  }
  ::kill(state.agent, SIGKILL);
  return await_agent(state.agent, kMaxKilling).value_or(SIGKILL);
}

}  // namespace

Victims victims_of(Level level, const std::optional<TaskCgroup>& cgroup, pid_t self) {
  Victims victims;
  if (level == Level::kPidNamespace) {
    victims.list = [self] {
      auto all = all_processes();
      std::erase(all, self);
      return all;
    };
    victims.kill_whole = [] { ::kill(-1, SIGKILL); };
    victims.is_victim = [self](pid_t pid) { return pid != self; };
    return victims;
  }
  const auto in_cgroup = [&cgroup] { return cgroup ? cgroup->processes() : std::vector<pid_t>(); };
  victims.list = [in_cgroup, self] {
    auto found = descendants_of(self);
    for (const pid_t pid : in_cgroup()) {
      if (std::find(found.begin(), found.end(), pid) == found.end()) found.push_back(pid);
    }
    return found;
  };
  if (cgroup) victims.kill_whole = [&cgroup] { cgroup->kill_all(); };
  victims.is_victim = [in_cgroup, self](pid_t pid) {
    if (is_descendant(pid, self)) return true;
    const auto members = in_cgroup();
    return std::find(members.begin(), members.end(), pid) != members.end();
  };
  return victims;
}

void run_guardian(GuardianState state) {
  ::prctl(PR_SET_NAME, "gangrun-guard", 0L, 0L, 0L);
  drop_descriptors(state);
  const std::optional<int> ended = wait_for_an_end(state);
  const int status = ended ? *ended : end_agent(state);
  kill_the_rest(state, ended && WIFEXITED(*ended));
  remove_folder(state.removed_at_end);
  end_as(status);
}

}  // namespace gangrun::process
