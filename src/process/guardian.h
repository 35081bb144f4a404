#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "base/unique_fd.h"
#include "process/cgroup.h"
#include "process/container_remover.h"
#include "process/kill_processes.h"
#include "process/levels.h"

namespace gangrun::process {

// Everything of a task's that `self` (guardian or agent) can find at this level, without itself.
// Both must outlive the result.
Victims victims_of(Level level, const std::optional<TaskCgroup>& cgroup, pid_t self);

struct GuardianState {
  Level level = Level::kSubreaper;
  pid_t agent = 0;
  // 0: the parent's end means nothing.
  pid_t parent_to_die_with = 0;
  // The agent sees its end when we end.
  base::UniqueFd alive;
  std::optional<TaskCgroup> cgroup;
  std::vector<int> lasting_fds;
  ContainerRemover remover;
  std::string removed_at_end;
};

// The guardian's life after the fork, before which awaited_signals() are to be blocked.
[[noreturn]] void run_guardian(GuardianState state);

}  // namespace gangrun::process
