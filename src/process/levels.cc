#include "process/levels.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <utility>

#include "base/format.h"
#include "process/cgroup.h"
#include "process/pid_namespace.h"
#include "process/pipe.h"
#include "process/wait_for.h"

namespace gangrun::process {

namespace {

constexpr base::seconds kMaxProbe(5);

// Runs `attempt` in a child, which must use system calls only, and gives what it returned; an error
// where it cannot be tried, or did not return in time. `what` is attempted.
template <typename Attempt>
base::Result<pid_namespace::StepFailure> try_in_child(const char* what, const Attempt& attempt) {
  GANGRUN_ASSIGN(Pipe answer, make_pipe());
  const pid_t child = ::fork();
  if (child == 0) {
    const pid_namespace::StepFailure failure = attempt();
    ::_exit(::write(answer.write.get(), &failure, sizeof failure) == sizeof failure ? 0 : 1);
  }
  if (child < 0) return base::from_errno(errno, fmt::format("cannot try {}", what));
  answer.write.reset();
  pid_namespace::StepFailure failure;
  const bool answered =
      wait_readable(answer.read.get(), std::chrono::steady_clock::now() + kMaxProbe) &&
      ::read(answer.read.get(), &failure, sizeof failure) == ssize_t{sizeof failure};
  if (!answered) ::kill(child, SIGKILL);
  while (::waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
  }
  if (answered) return failure;
  return base::deadline_exceeded(fmt::format("the attempt {} did not end in time", what));
}

Ability impossible(std::string reason) { return {.possible = false, .reason = std::move(reason)}; }

Ability probe_pid_namespace_with(const pid_namespace::IdMaps& maps) {
  const auto attempt = [&maps]() -> pid_namespace::StepFailure {
    const pid_namespace::StepFailure unshared = pid_namespace::unshare_children(maps);
    if (unshared.happened()) return unshared;
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return {pid_namespace::Step::kUnshare, errno};
    const pid_t init = ::fork();
    if (init < 0) return {pid_namespace::Step::kUnshare, errno};
    if (init == 0) {
      const pid_namespace::StepFailure failure = pid_namespace::become_init();
      ::_exit(::write(ends[1], &failure, sizeof failure) == sizeof failure ? 0 : 1);
    }
    ::close(ends[1]);
    pid_namespace::StepFailure failure{pid_namespace::Step::kUnshare, EIO};
    if (::read(ends[0], &failure, sizeof failure) != sizeof failure) failure.error_number = EIO;
    ::waitpid(init, nullptr, 0);
    return failure;
  };
  const auto failure = try_in_child("to make a PID namespace", attempt);
  if (!failure.ok()) return impossible(failure.error().message);
  if (failure->happened()) return impossible(pid_namespace::words(*failure));
  return {.possible = true, .reason = ""};
}

Ability probe_pid_namespace() {
  pid_namespace::IdMaps maps = pid_namespace::own_id_maps();
  const bool may_use_user_namespace = std::exchange(maps.may_use_user_namespace, false);
  Ability ability = probe_pid_namespace_with(maps);
  if (ability.possible || !may_use_user_namespace) return ability;
  maps.may_use_user_namespace = true;
  ability = probe_pid_namespace_with(maps);
  ability.needs_user_namespace = ability.possible;
  return ability;
}

Ability probe_cgroup() {
  // Before groups are made, those that killed processes have left are removed.
  (void)remove_abandoned_cgroups();
  const auto group = TaskCgroup::create("probe");
  if (!group.ok()) return impossible(group.error().message);
  const auto attempt = [&group]() -> pid_namespace::StepFailure {
    const bool joined = ::write(group->procs_fd(), "0", 1) == 1;
    return {pid_namespace::Step::kNone, joined ? 0 : errno};
  };
  const auto outcome = try_in_child("to enter a cgroup", attempt);
  const auto removed = group->remove(std::chrono::steady_clock::now() + kMaxProbe);
  if (!outcome.ok()) return impossible(outcome.error().message);
  if (outcome->error_number != 0) {
    return impossible(fmt::format("cannot enter a cgroup of our own: {}",
                                  ::strerrordesc_np(outcome->error_number)));
  }
  if (!removed.ok()) return impossible(removed.error().message);
  return {.possible = true, .reason = ""};
}

Ability probe_subreaper() {
  int value = 0;
  if (::prctl(PR_GET_CHILD_SUBREAPER, &value, 0L, 0L, 0L) != 0) {
    return impossible("this kernel has no subreapers");
  }
  if (::access("/proc/self/stat", R_OK) != 0) return impossible("/proc is not mounted");
  return {.possible = true, .reason = ""};
}

}  // namespace

std::string_view to_string(Level level) {
  switch (level) {
    case Level::kPidNamespace: return "pid_namespace";
    case Level::kCgroup: return "cgroup";
    case Level::kSubreaper: break;
  }
  return "subreaper";
}

std::optional<Level> level_from_string(std::string_view name) {
  for (const Level level : kLevels) {
    if (to_string(level) == name) return level;
  }
  return std::nullopt;
}

Ability probe_level(Level level) {
  switch (level) {
    case Level::kPidNamespace: return probe_pid_namespace();
    case Level::kCgroup: return probe_cgroup();
    case Level::kSubreaper: break;
  }
  return probe_subreaper();
}

LevelChoice choose_level(std::optional<Level> wanted, const std::function<Ability(Level)>& probe) {
  if (wanted) return {.level = *wanted, .ability = probe(*wanted)};
  LevelChoice choice;
  for (const Level level : kLevels) {
    choice = {.level = level, .ability = probe(level)};
    if (choice.ability.possible && !choice.ability.needs_user_namespace) break;
  }
  return choice;
}

std::string_view what_programs_notice(Level level, bool has_user_namespace) {
  if (level == Level::kCgroup) return "each task is in a cgroup of its own";
  if (level == Level::kSubreaper) return "";
  if (has_user_namespace) {
    return "programs see the processes of their job only, setuid programs do not rise, and files "
           "of other users are nobody's";
  }
  return "programs see the processes of their job only";
}

}  // namespace gangrun::process
