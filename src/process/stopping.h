#pragma once

#include <sys/types.h>

#include <csignal>
#include <cstdint>
#include <set>
#include <utility>
#include <vector>

namespace gangrun::process {

// Tells the processes of a task to end, each of them once, however often that is asked: many take
// a second signal for an order to drop what they save.
class Stopping {
 public:
  struct How {
    int number = SIGTERM;
    // All that a command has started in its process group; else the command alone, and where that
    // is a shell what the shell runs: a program's helpers are left to the program, which may need
    // them to save what it has.
    bool to_group = false;
  };

  explicit Stopping(How how) : how_(how) {}

  // Whether anybody has been told.
  [[nodiscard]] bool has_begun() const { return !leaders_.empty(); }

  // Tells `leaders`: children of the caller that lead a process group and are not reaped.
  void tell(const std::vector<pid_t>& leaders);

  // When these have ended: tells who of the task still lives and has not been told. With a group
  // that is a daemon that has left it; else who has become the caller's own child, as an orphan.
  void tell_rest(const std::vector<pid_t>& left);

 private:
  void tell_one(pid_t pid);

  How how_;
  std::set<pid_t> leaders_;
  // By number and start, which name one process for good.
  std::set<std::pair<pid_t, std::uint64_t>> told_;
};

}  // namespace gangrun::process
