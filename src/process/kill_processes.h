#pragma once

#include <sys/types.h>

#include <functional>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "process/process_handle.h"

namespace gangrun::process {

// Which processes are to die; the ways to find and to reach them differ by level.
struct Victims {
  // All of them that can be seen now; zombies do no harm.
  std::function<std::vector<pid_t>()> list;
  // Kills what it can in one call, before they are killed one by one. May be empty.
  std::function<void()> kill_whole;
  // Asked when the process can no longer be mistaken for another: is it one of them? Its number may
  // have been given to a stranger since list().
  std::function<bool(pid_t)> is_victim;
};

// The living ones among `pids`.
std::vector<pid_t> living(const std::vector<pid_t>& pids);

// Reaps those of our children that have ended, except `own_children`, whose exits somebody else
// wants. For processes that were given to us as orphans.
void reap_orphans(const std::vector<pid_t>& own_children);

// Kills those of `alive` that are victims once, with their process groups, and gives handles of the
// first few hundred of them. What they forked meanwhile may live.
std::vector<ProcessHandle> kill_once(const Victims& victims, const std::vector<pid_t>& alive);

// Kills until list() has nobody alive, again and again, as they may fork meanwhile; nor anybody who
// has just ended and may have left a child. kDeadlineExceeded names the survivors (processes stuck
// in the kernel, or those of another user).
base::Result<> kill_processes(const Victims& victims, const std::vector<pid_t>& own_children,
                              base::Instant deadline);

}  // namespace gangrun::process
