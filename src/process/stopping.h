#pragma once

#include <sys/types.h>

#include <set>
#include <vector>

namespace gangrun::process {

// Tells the processes of a task to end, each of them once, however often that is asked: many take
// a second signal for an order to drop what they save.
class Stopping {
 public:
  // Whether anybody has been told.
  [[nodiscard]] bool has_begun() const { return !groups_.empty(); }

  // SIGTERM to the process groups of `leaders`: children of the caller that it has not reaped.
  void tell(const std::vector<pid_t>& leaders);

  // When these have ended: SIGTERM to those of the task that still live and were in no such group
  // (a daemon with a session of its own).
  void tell_rest(const std::vector<pid_t>& left);

 private:
  std::set<pid_t> groups_;
  std::set<pid_t> told_;  // one by one
};

}  // namespace gangrun::process
