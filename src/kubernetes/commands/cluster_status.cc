#include "kubernetes/commands/cluster_status.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <utility>

#include "job/choice.h"

namespace gangrun::kubernetes::commands {

using base::Result;

void set_moments(job::JobStatus& status, base::WallTime now) {
  if (job::is_final(status.state) && status.ended.empty()) status.ended = base::to_iso8601(now);
  const auto begun = base::parse_iso8601(status.submitted);
  const auto ended =
      status.ended.empty() ? Result<base::WallTime>(now) : base::parse_iso8601(status.ended);
  if (!begun.ok() || !ended.ok()) return;
  const auto elapsed = std::chrono::duration_cast<std::chrono::milliseconds>(*ended - *begun);
  status.elapsed_ms = std::max<std::int64_t>(elapsed.count(), 0);
}

job::JobStatus seen_from_here(job::JobStatus status) {
  status.folder.clear();
  for (job::TaskStatus& task : status.tasks) task.log_path.clear();
  return status;
}

void add_tasks(job::JobStatus& status, const job::JobSpec& spec) {
  status.restarts_max = spec.restarts.max;
  for (const job::TaskId& task : spec.task_ids()) {
    job::TaskStatus waiting;
    waiting.task = task;
    waiting.policy = job::effective_policy(spec, *spec.find(task.type));
    status.tasks.push_back(std::move(waiting));
  }
}

job::JobStatus summary_of(const records::Head& head, base::WallTime now) {
  const records::HeadSummary& summary = head.summary;
  job::JobStatus status;
  status.id = head.job;
  status.name = summary.name;
  status.state =
      job::choice_from<job::JobState>(summary.state).value_or(job::JobState::kAllocating);
  status.submitted = summary.submitted;
  status.ended = summary.ended;
  if (job::is_final(status.state) && status.state != job::JobState::kSucceeded) {
    status.cause = job::Cause{.why = {.reason = job::reason_or_unknown(summary.reason)}};
  }
  set_moments(status, now);
  return status;
}

job::JobStatus ended_unseen(job::JobStatus last, const std::string& stopped_by,
                            const std::string& how, base::WallTime now) {
  const bool is_killed = !stopped_by.empty();
  last.state = is_killed ? job::JobState::kKilled : job::JobState::kLost;
  last.cause = job::Cause{};
  last.cause->why.reason = is_killed ? job::Reason::kStopped : job::Reason::kMasterLost;
  last.cause->why.detail = is_killed ? stopped_by : how;
  last.waiting_for.clear();
  for (job::TaskStatus& task : last.tasks) {
    if (job::is_final(task.state)) continue;
    task.state = is_killed ? job::TaskState::kStopped : job::TaskState::kLost;
  }
  set_moments(last, now);
  return last;
}

}  // namespace gangrun::kubernetes::commands
