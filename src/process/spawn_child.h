#pragma once

#include <sys/resource.h>
#include <sys/types.h>

namespace gangrun::process::spawn_child {

// One step of the child's way from clone() to exec; names the failed one.
enum class Step {
  kNone,
  kParentDied,
  kGroup,
  kParentDeathSignal,
  kCgroup,
  kFolder,
  kNull,
  kDescriptors,
  kTerminal,
  kExec,
};

struct Mapping {
  int fd;  // -1: /dev/null
  int as;
};

// Everything that the child needs, prepared by the parent: between clone() and exec the child runs
// in the parent's memory and may neither allocate nor take a lock.
struct Plan {
  char* const* argv = nullptr;
  char* const* environment = nullptr;
  // Tried in turn; null-terminated.
  const char* const* programs = nullptr;
  const char* working_folder = nullptr;  // null: stays
  Mapping* mappings = nullptr;           // ascending by `as`; changed by the child
  int mapping_count = 0;
  int new_group = 0;  // 0 none, 1 group, 2 session
  bool takes_terminal = false;
  int parent_death_signal = 0;
  pid_t parent = 0;
  int cgroup_procs_fd = -1;
  const rlimit* open_files = nullptr;  // null: the caller's
  // The place for the digits of LISTEN_PID, with room for a pid; null: not wanted.
  char* listen_pid_digits = nullptr;

  // The child's error.
  Step failed = Step::kNone;
  int error_number = 0;
};

// The child's side; its argument is a Plan; ends in exec, or in a Plan that says what failed and
// exit.
int run(void* argument);

// Makes sure that only the mapped descriptors outlive exec, for kernels without close_range().
// Async-signal-safe. Public for its test.
bool close_others_on_exec(const Mapping* mappings, int count);

}  // namespace gangrun::process::spawn_child
