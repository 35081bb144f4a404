#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "process/child.h"

namespace gangrun::process {

// `fd` of ours becomes `as` in the child.
struct InheritedFd {
  int fd = -1;
  int as = -1;
};

// Passed as systemd passes sockets: the first is descriptor 3, and the child's LISTEN_PID,
// LISTEN_FDS and LISTEN_FDNAMES say so. A name has no colon.
struct ListenFd {
  int fd = -1;
  std::string name;
};

enum class NewGroup {
  kNone,     // stays in the caller's process group
  kGroup,    // leads a process group of its own
  kSession,  // leads a session of its own, without a terminal
};

struct SpawnOptions {
  // The program and its arguments. A program without a slash is looked for in the PATH of
  // `environment`; a relative one is relative to `working_folder`.
  std::vector<std::string> argv;
  // "NAME=value", and nothing else is in the child's environment.
  std::vector<std::string> environment;
  // Empty: the caller's.
  std::string working_folder;
  // -1: /dev/null. The caller keeps its descriptors.
  int standard_input = -1;
  int standard_output = -1;
  int standard_error = -1;
  // Besides these, `listen` and the three above, no descriptor reaches the child.
  std::vector<InheritedFd> inherited;
  std::vector<ListenFd> listen;
  NewGroup new_group = NewGroup::kGroup;
  // Standard input is a terminal, which becomes that of the child's new session.
  bool takes_terminal = false;
  // Sent to the child when the *thread* that called spawn() ends; 0 for none. Setuid programs shed
  // it. A parent that dies meanwhile is noticed: the child then ends before it starts the program.
  int parent_death_signal = 0;
  // cgroup.procs of a cgroup v2, open for writing: the child is in it before the program starts.
  int cgroup_procs_fd = -1;
};

// The environment of this process, for SpawnOptions.
std::vector<std::string> inherited_environment();

// The limit of a program's arguments and environment together; the kernel's own is not smaller for
// us, and its error names nothing.
inline constexpr std::size_t kMaxArgumentBytes = std::size_t{1536} << 10U;
// The highest descriptor number that a child can be given.
inline constexpr int kMaxInheritedFd = 1023;

// Starts a program. When this returns, the program runs (its exec has happened), with all signals
// at their default and unblocked; a program that cannot be started is an Error that names it
// and the reason (not found, no right, no interpreter), and leaves no process behind.
//
// The child shares our memory until its exec, as with vfork(): about as cheap as posix_spawn(), and
// independent of our size. May be called from any thread. Needs Linux 5.3 or newer.
base::Result<Child> spawn(const SpawnOptions& options);

// "; use python3 train.py": what starts the file of this name in `folder` that cannot be started by
// the name alone. Empty where there is no such file, or nothing better is known.
[[nodiscard]] std::string start_hint(const std::string& program, const std::string& folder);

}  // namespace gangrun::process
