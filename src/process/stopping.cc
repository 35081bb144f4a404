#include "process/stopping.h"

#include <csignal>

#include "base/unique_fd.h"
#include "process/proc_fs.h"
#include "process/wait_for.h"

namespace gangrun::process {

void Stopping::tell(const std::vector<pid_t>& leaders) {
  for (const pid_t leader : leaders) {
    if (groups_.insert(leader).second) (void)::kill(-leader, SIGTERM);
  }
}

void Stopping::tell_rest(const std::vector<pid_t>& left) {
  for (const pid_t pid : left) {
    // First, so that the number cannot become somebody else's between look and signal.
    const base::UniqueFd pidfd = open_pidfd(pid);
    const auto stat = read_stat(pid);
    if (!pidfd.valid() || !stat || groups_.contains(stat->group)) continue;
    if (told_.insert(pid).second) signal_pidfd(pidfd.get(), SIGTERM);
  }
}

}  // namespace gangrun::process
