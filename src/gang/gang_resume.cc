#include <algorithm>

#include "base/overloaded.h"
#include "gang/gang.h"

// A new master goes on with the job of a dead one.
namespace gangrun::gang {

bool Gang::matters(const Event& event, base::Instant now) const {
  if (stage_ == Stage::kFinished) return false;
  const bool has_begun = stage_ != Stage::kNew;
  return std::visit(
      base::Overloaded{
          [](const base::OneOf<Begin, StopRequested, Resumed, ClusterGone> auto&) { return true; },
          [&](const base::OneOf<ClusterWaiting, Allocated, Reported, Started, job::Exited,
                                SessionLost, Reattached, job::AgentEnded> auto&) {
            return has_begun;
          },
          [&](const TimePassed&) {
            const auto deadline = next_deadline();
            return has_begun && deadline && *deadline <= now;
          },
          [&](const HostSilent& silent) { return !awaited_of(silent).empty(); },
          [&](const Progress& progress) {
            const Task* task = find(progress.task);
            return has_begun && task != nullptr && task->attempt == progress.attempt &&
                   (prolongs_grace(*task) || prolongs_roll_call(*task));
          },
      },
      event);
}

void Gang::on(const Resumed&) {
  if (stage_ == Stage::kNew) return on(Begin{});
  cluster_waits_for_.clear();
  waiting_since_ = now_;  // nobody could come while there was no master
  touch_all();
  for (Task& task : tasks_) resume(task);
}

// The last decisions may not have been carried out: each is decided again, at once or when its
// agent is back.
void Gang::resume(Task& task) {
  switch (task.phase) {
    case Phase::kAsked:
      // Whether its agent was started is not known: where it was, it must not take part.
      decide(End{task.id, task.allocated_attempt, std::chrono::milliseconds(0)});
      task.allocated_attempt = ++task.attempt;
      return ask(task);
    case Phase::kAllocated:
      if (!task.has_run) return enter(task, Phase::kAllocated);
      [[fallthrough]];
    case Phase::kRegistered:
    case Phase::kStarting:
    case Phase::kRunning:
    case Phase::kStopping:
    case Phase::kIdle: return fall_silent(task);
    case Phase::kEnding:
      set_deadline(task, std::max(*task.deadline, now_ + limits_.kill_allowance));
      if (task.killed) return decide(Kill{task.id, task.allocated_attempt});
      return decide(End{task.id, task.allocated_attempt, grace_left(task)});
    case Phase::kGone: return;
  }
}

// An agent that reports and is known already has met a new master: to its agent the two look the
// same. Or it could not hold its old port again before the generation that it waits for.
void Gang::reported_again(Task& task, const job::Address& address) {
  if (task.phase == Phase::kRegistered || task.phase == Phase::kIdle) task.address = address;
  if (task.silent || task.phase == Phase::kEnding) on(Reattached{task.id, task.attempt});
}

}  // namespace gangrun::gang
