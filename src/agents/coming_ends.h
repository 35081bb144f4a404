#pragma once

#include <map>
#include <vector>

#include "job/ends.h"
#include "job/exit_report.h"
#include "job/task_id.h"

namespace gangrun::agents {

// The ends of agents that their places are taking away. An agent may still have time to end, in
// which other tasks need it; the first one that fails meanwhile may fail for want of it. So the
// ends that come are told before that failure, which is then nobody's. Pure.
class ComingEnds {
 public:
  void note(job::AgentEnded end);
  // Whoever runs the job has asked for its end, or its place has told it.
  void forget(const job::TaskId& task) { coming_.erase(task); }
  [[nodiscard]] bool has(const job::TaskId& task) const { return coming_.contains(task); }
  [[nodiscard]] bool is_empty() const { return coming_.empty(); }
  // Whether ends that come may be why a run has ended so.
  [[nodiscard]] static bool may_explain(const job::ExitReport& report);
  // A run has ended so: what is to be told first, and counts as told.
  std::vector<job::AgentEnded> before(const job::ExitReport& report);
  // Whether before() has returned it: then its place tells nothing new.
  [[nodiscard]] bool is_told(const job::TaskId& task, int attempt) const;

 private:
  std::map<job::TaskId, job::AgentEnded> coming_;
  std::map<job::TaskId, int> told_;  // the last attempts
};

}  // namespace gangrun::agents
