#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"

namespace gangrun::process {

// The facts of /proc/PID/stat about a process. Times are since boot or spent on a CPU.
struct ProcessStat {
  pid_t pid = 0;
  std::string name;  // at most 15 bytes; may hold any byte, also spaces and parentheses
  char state = '?';  // R, S, D, Z (ended, not yet reaped), X, T …
  // Its end has begun (PF_EXITING): it runs no more, but may still have files open.
  bool is_ending = false;
  pid_t parent = 0;
  pid_t group = 0;
  pid_t session = 0;
  base::Duration cpu{};           // of its own, user and system
  base::Duration children_cpu{};  // of children that ended and that it has reaped
  std::uint64_t start_ticks = 0;  // with the pid: names one process as long as the host is up
  std::uint64_t resident_pages = 0;
  std::uint64_t threads = 0;  // 1 for a process that waits to be reaped, all of whose threads ended

  [[nodiscard]] bool alive() const { return state != 'Z' && state != 'X' && state != 'x'; }
};

// A file of /proc/PID, such as "status", in /proc or another folder of its kind; empty where there
// is no such process (any more) or it is hidden from us.
std::string read_proc(pid_t pid, std::string_view file, const std::string& proc = "/proc");

// The value of a key, such as "SigCgt", in the text of /proc/PID/status; empty: it has none.
std::string_view status_value(std::string_view status, std::string_view key);

// The innermost of the numbers that such a text has for its process, by which it is known in its
// own PID namespace; 0 where the text has none.
pid_t innermost_pid(std::string_view status);

// A whole number without a sign and nothing else; none on overflow.
std::optional<std::uint64_t> parse_number(std::string_view text, int base = 10);

// Writes to a file of the kernel's, in one call; false, with errno, where that does not take it.
// Uses system calls only.
bool write_to(const char* path, std::string_view text);

// The text of one /proc/PID/stat. None where it is not one.
std::optional<ProcessStat> parse_stat(std::string_view text, std::int64_t ticks_per_second);

// The pids in the text of /proc/PID/task/TID/children or of cgroup.procs, separated by white space.
std::vector<pid_t> parse_pids(std::string_view text);

// None where there is no such process (any more) or it is hidden from us.
std::optional<ProcessStat> read_stat(pid_t pid);

// Every process that /proc shows, or another folder of its kind.
std::vector<pid_t> all_processes(const std::string& proc = "/proc");

// The children of all threads of `pid`; zombies too. Where the kernel does not list children, the
// parents of all processes are read instead.
std::vector<pid_t> children_of(pid_t pid);

// All processes below `ancestor`, parents before their children, without `ancestor`; zombies too.
// Orphans that move up meanwhile are there, those that are forked meanwhile may be missing.
std::vector<pid_t> descendants_of(pid_t ancestor);

// The same from the parents of all processes: the way that needs no help from the kernel's
// configuration, and costs a look at every process of the host.
std::vector<pid_t> descendants_by_parents(pid_t ancestor);

// The child of `ancestor` that `pid` is, or descends from; 0 where it does not.
pid_t branch_of(pid_t pid, pid_t ancestor);

// Whether the chain of parents of `pid` leads to `ancestor`.
bool is_descendant(pid_t pid, pid_t ancestor);

// The open descriptors of this process.
std::vector<int> open_descriptors();

// Closes all open descriptors from `first` to `last`.
void close_descriptors(int first, int last);

// The open sockets of a process, by inode; empty where its descriptors are hidden from us.
std::vector<std::uint64_t> socket_inodes(pid_t pid, const std::string& proc = "/proc");

// The name of a process, at most 15 bytes; "?" where there is no such process (any more).
std::string process_name(pid_t pid, const std::string& proc = "/proc");

// The present use of resources by a group of processes.
struct Usage {
  std::uint64_t memory_bytes = 0;  // resident, shared pages counted in each
  double cpu_seconds = 0;          // of the living ones and of the children that they have reaped
};

// Processes that have ended meanwhile count nothing.
Usage usage_of(const std::vector<pid_t>& processes);

}  // namespace gangrun::process
