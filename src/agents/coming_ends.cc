#include "agents/coming_ends.h"

#include <utility>

#include "job/reason.h"

namespace gangrun::agents {

void ComingEnds::note(job::AgentEnded end) {
  if (!is_told(end.task, end.attempt)) coming_.insert_or_assign(end.task, std::move(end));
}

bool ComingEnds::may_explain(const job::ExitReport& report) {
  return !report.success && job::may_lack_others(report.why.reason);
}

std::vector<job::AgentEnded> ComingEnds::before(const job::ExitReport& report) {
  std::vector<job::AgentEnded> ends;
  if (!may_explain(report)) return ends;
  for (auto& [task, end] : std::exchange(coming_, {})) {
    told_[task] = end.attempt;
    ends.push_back(std::move(end));
  }
  return ends;
}

bool ComingEnds::is_told(const job::TaskId& task, int attempt) const {
  const auto told = told_.find(task);
  return told != told_.end() && told->second == attempt;
}

}  // namespace gangrun::agents
