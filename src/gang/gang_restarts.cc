#include <algorithm>

#include "gang/gang.h"

// Restarts: of a task alone or of the gang, counted or not.
//
// A task has no fault in what its place does to it, and its restart is not counted. Until it runs
// again the others of its generation lack it: one that fails meanwhile may fail for want of it.
// Such a failure is neither counted nor a cause, and the survivors have nothing in common any more,
// so the gang restarts together, whatever the scope. The loss has been answered before, and its own
// limit holds: each loss ends one generation at most in this way.
namespace gangrun::gang {

using job::Policy;

bool Gang::may_restart(bool counts) const {
  if (stage_ != Stage::kRunning && stage_ != Stage::kGathering) return false;
  if (!counts) return uncounted_restarts_ < limits_.max_uncounted_restarts;
  return restarts_.scope != job::RestartScope::kNone && restarts_used_ < restarts_.max;
}

void Gang::count_restart(const Failure& failure, bool counts) {
  if (counts) {
    ++restarts_used_;
    warn(TaskFailed{failure.cause, TaskFailed::Then::kRestart, restarts_used_, restarts_.max});
  } else {
    ++uncounted_restarts_;
    warn_of(failure, TaskFailed::Then::kRestartNotCounted);
  }
  failures_.clear();
}

// Grows with each failure; a run that was longer than the longest pause begins at the first one
// again.
base::Duration Gang::next_pause(base::Pause& pause, base::Instant begun) const {
  if (now_ - begun > restarts_.max_pause) pause.reset();
  return pause.next();
}

void Gang::restart_task(Task& task, base::Duration pause) {
  if (pause.count() == 0) return restart_now(task);
  if (task.phase != Phase::kGone && task.phase != Phase::kIdle) return;
  task.outcome = Outcome::kNone;
  task.restart_at = now_ + pause;
  enter(task, task.phase);
}

void Gang::restart_now(Task& task) {
  if (task.phase == Phase::kGone) return ask(task);
  if (task.phase != Phase::kIdle) return;
  // Meanwhile its agent may have come to another port, which the others do not know.
  if (task.policy == Policy::kSidecar || is_as_published(task)) return start(task);
  restart_gang();
}

// Every task that others know by its address stops and waits for the next generation.
void Gang::restart_gang() {
  stage_ = Stage::kGathering;
  touch_all();
  for (Task& task : tasks_) {
    if (task.policy == Policy::kSidecar) continue;
    switch (task.phase) {
      case Phase::kStarting:
      case Phase::kRunning:
        enter(task, Phase::kStopping);
        decide(Stop{task.id, task.attempt, timeouts_.stop});
        break;
      case Phase::kIdle:
        task.outcome = Outcome::kNone;
        enter(task, Phase::kRegistered);
        break;
      case Phase::kGone:
        if (!task.dropped && !task.restart_at) ask(task);
        break;
      case Phase::kAsked:
      case Phase::kAllocated:
      case Phase::kRegistered:
      case Phase::kStopping:
      case Phase::kEnding: break;
    }
  }
  publish_if_complete();
}

// True when the task should leave its host.
bool Gang::note_trouble(const Task& task, bool is_trouble) {
  if (!is_trouble || task.host.empty()) return false;
  const bool is_bad = hosts_.failed_on(task.host, task.id, now_);
  const bool avoided = hosts_.avoids(task.host, now_);
  if (is_bad && avoided) {
    warn(HostAvoided{task.host, Hosts::kCoolDown, Hosts::kFailures, Hosts::kWindow});
  }
  return avoided;
}

// The others know no observer: they go on without it. One that leaves when it is to be preempted is
// lost with its agent, if not yet.
void Gang::note_lack(Task& task, job::Reason reason) {
  const bool has_gone = task.phase == Phase::kGone || reason == job::Reason::kPreempted;
  if (has_gone && !job::is_own_fault(reason) && task.policy != Policy::kObserver)
    task.lacked = true;
}

// The one for want of which the task may have failed; none: it has failed by itself.
const Task* Gang::lacked_by(const Task& task, const Failure& failure, bool counts) {
  if (!counts || stage_ != Stage::kRunning) return nullptr;
  if (!job::may_lack_others(failure.cause.why.reason)) return nullptr;
  recount();
  if (count(Trait::kLacked) == 0) return nullptr;
  const auto lost = std::find_if(tasks_.begin(), tasks_.end(), [&](const Task& other) {
    return other.lacked && &other != &task;
  });
  return lost == tasks_.end() ? nullptr : &*lost;
}

void Gang::failed(Task& task, const Failure& failure, bool counts, bool may_retry) {
  task.outcome = Outcome::kFailed;
  if (task.policy == Policy::kSidecar) {
    warn_of(failure, TaskFailed::Then::kWithoutIt);
    if (stage_ == Stage::kStopping) end(task, std::chrono::milliseconds(0));
    return;
  }
  waiting_since_ = now_;
  if (const Task* lost = lacked_by(task, failure, counts); lost != nullptr) {
    warn(TaskFailed{
        .cause = failure.cause, .then = TaskFailed::Then::kRestartForWant, .lacked = lost->id});
    return restart_gang();
  }
  const bool lost = task.phase == Phase::kGone;
  const bool leaves = note_trouble(task, lost || counts) && task.phase == Phase::kIdle;
  if (!may_retry || !may_restart(counts)) {
    const bool goes_on = stage_ == Stage::kGathering || stage_ == Stage::kRunning;
    if (lost && goes_on && can_do_without(task)) return drop(task, failure);
    return fail_job(failure);
  }
  count_restart(failure, counts);
  note_lack(task, failure.cause.why.reason);
  const auto pause_of = [&](base::Pause& pause, base::Instant begun) {
    return counts ? next_pause(pause, begun) : base::Duration::zero();
  };
  const auto restart_all = [&] {
    const base::Duration pause = pause_of(pause_, published_at_);
    if (pause.count() > 0) publish_at_ = now_ + pause;
    restart_gang();
  };
  if (leaves && task.policy != Policy::kObserver) {
    end(task, std::chrono::milliseconds(0));
    return restart_all();
  }
  const bool alone =
      restarts_.scope == job::RestartScope::kTask || task.policy == Policy::kObserver;
  // A port that was lost is known to the others: only a new generation tells them of the new one.
  const bool at_old_address = task.phase != Phase::kAllocated;
  if (stage_ == Stage::kGathering || (alone && at_old_address)) {
    return restart_task(task, pause_of(task.pause, task.begun_at));
  }
  restart_all();
}

}  // namespace gangrun::gang
