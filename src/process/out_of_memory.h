#pragma once

#include <sys/types.h>

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/unique_fd.h"
#include "process/exit.h"

namespace gangrun::process {

// How often the kernel has killed for want of memory, as far as it tells us.
struct OutOfMemoryCounts {
  // In our own memory cgroup of version 2, with those below it; none in the root group and where
  // the controller is not used.
  std::optional<std::uint64_t> cgroup_2;
  // In our own memory cgroup of version 1.
  std::optional<std::uint64_t> cgroup_1;
  // On the whole host; not asked where one of the others is known.
  std::optional<std::uint64_t> host;
};

// The number after `key` in a text of lines "key number": memory.events, memory.oom_control,
// /proc/vmstat; all three count as oom_kill.
std::optional<std::uint64_t> parse_count(std::string_view text, std::string_view key);

// The process that a record of /dev/kmsg says was killed for want of memory; none for any other
// record, and for one that was written there by a program.
std::optional<pid_t> parse_killed_process(std::string_view kmsg_record);

// Whether counts speak for a kill between two moments. Our own cgroups' word counts before the
// host's, which may speak of a stranger.
bool counts_increased(const OutOfMemoryCounts& before, const OutOfMemoryCounts& after);

// Tells whether a process that died by SIGKILL was killed for want of memory. Evidence, best first:
// the kernel's log naming the process (mostly for root alone, and in no PID namespace), the
// counters of our memory cgroup, the counter of the host. The last two may take another process's
// fate for this one's where both die within some seconds; so refresh now and then.
class OutOfMemoryWatch {
 public:
  // Looks at the state of now. Works with whatever evidence the host permits.
  static OutOfMemoryWatch start();

  // Forgets what happened longer ago than a process takes to die: the kernel counts and logs a kill
  // first, and gives back the memory, which may be much, before the process has ended for us.
  void refresh(base::Instant now);

  // For a process of ours that has just ended. May wait for up to 100 ms for the log, if the
  // counters say that there is something to come.
  [[nodiscard]] bool killed(pid_t pid, const Exit& exit);

 private:
  struct Look {
    base::Instant at;
    OutOfMemoryCounts counts;
  };
  struct Named {
    pid_t pid = 0;
    base::Instant at;
  };

  [[nodiscard]] OutOfMemoryCounts read_counts() const;
  void read_log(base::Instant now);
  [[nodiscard]] bool names(pid_t pid) const;
  [[nodiscard]] bool log_is_whole() const { return log_.valid() && !log_gap_; }

  std::string cgroup_2_file_;
  std::string cgroup_1_file_;
  base::UniqueFd log_;
  // The first is of a time before all that counts.
  std::deque<Look> looks_;
  std::vector<Named> named_;  // by the log
  // When records were lost that might have named one.
  std::optional<base::Instant> log_gap_;
};

}  // namespace gangrun::process
