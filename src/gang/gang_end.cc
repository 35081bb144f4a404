#include <algorithm>

#include "base/check.h"
#include "base/format.h"
#include "base/strings.h"
#include "gang/gang.h"
#include "gang/task_traits.h"

// How a job ends: success, verdict and first cause, deadlines, and what it waits for.
//
// A job that succeeds ends in two steps. When all tracked tasks have succeeded
// (finish_if_tracked_succeeded), the gang is finishing: services and idle observers end at once,
// other observers go on within their grace, which their progress prolongs. When the last observer
// is done (finish_if_observed), or at once after a failure, a request to stop, the loss of the
// cluster or the job's time limit, stop_job() decides the verdict and everything else ends; only
// sidecars of a job that succeeded have a grace. A verdict never changes after that.
//
// The end of one task goes on until its agent is known to be gone: end() with a grace, then a kill,
// then a warning that its end could not be confirmed (expired_ending). Finish comes when no agent
// is left (finish_if_gone): a user takes the end of the job for the end of its processes.
//
// The first cause is chosen last, among all failures by their times: one that arrives late may have
// happened first. So failures are collected while the gang stops, too.
namespace gangrun::gang {

using base::format;
using job::Policy;

namespace {

// Enough to find the first; a gang of thousands that collapses reports far more.
constexpr std::size_t kMaxFailures = 256;
// Names of tasks in one sentence.
constexpr std::size_t kMaxNames = 4;

std::string names(const std::vector<const Task*>& tasks) {
  return base::first_and_more(tasks, kMaxNames,
                              [](const Task* task) { return job::to_string(task->id); });
}

std::chrono::milliseconds milliseconds_of(base::Duration duration) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(duration);
}

job::Why stopped_by(const StopRequested& event) {
  return {.reason = job::Reason::kStopped, .detail = event.by};
}

job::Why why_of(const ClusterGone& event) {
  return {.reason = event.reason, .detail = event.detail};
}

}  // namespace

Gang::Failure Gang::failure_of(const Task& task, job::Why why, base::Instant at) {
  Failure failure;
  failure.at = at;
  failure.cause.task = task.id;
  failure.cause.host = task.host;
  failure.cause.why = std::move(why);
  return failure;
}

Gang::Failure Gang::failure_of(const Task& task, const job::Exited& event) {
  Failure failure = failure_of(task, event.report.why, event.ended_at);
  failure.cause.last_lines = event.report.last_lines;
  failure.cause.has_both_streams = event.report.has_both_streams;
  failure.cause.traceback = event.report.traceback;
  return failure;
}

Gang::Failure Gang::failure_of(const Task& task, const job::AgentEnded& event) {
  return failure_of(task, event.why, event.ended_at);
}

void Gang::succeeded(Task& task) {
  task.outcome = Outcome::kSucceeded;
  enter(task, Phase::kIdle);
  if (stage_ == Stage::kStopping) return end(task, std::chrono::milliseconds(0));
  finish_if_tracked_succeeded();
  finish_if_observed();
}

// A failure before it was asked to end is its own, and may be the first cause that arrived late.
void Gang::exited_while_ending(Task& task, const job::Exited& event) {
  if (task.outcome != Outcome::kNone) return;
  // Why it is ended may be known already.
  const bool had_no_progress = task.exit && task.exit->reason == job::Reason::kNoProgress;
  task.exit = event.report.why;
  if (event.report.success) {
    task.outcome = Outcome::kSucceeded;
  } else if (task.asked_to_end_at && event.ended_at < *task.asked_to_end_at) {
    task.outcome = Outcome::kFailed;
    const bool matters = task.policy != Policy::kSidecar && stage_ == Stage::kStopping;
    if (matters && failures_.size() < kMaxFailures) failures_.push_back(failure_of(task, event));
  } else {
    task.outcome = Outcome::kStopped;
    task.exit->reason = had_no_progress ? job::Reason::kNoProgress : job::Reason::kStopped;
  }
}

// A silent task was given up when its lease had ended for sure; now it is known when and how it
// did.
void Gang::correct_failure(const Task& task, const job::AgentEnded& event) {
  for (Failure& failure : failures_) {
    if (failure.cause.task == task.id && event.ended_at < failure.at) {
      failure = failure_of(task, event);
    }
  }
}

void Gang::end(Task& task, std::chrono::milliseconds grace) {
  if (task.phase == Phase::kGone) {
    task.restart_at.reset();
    return set_deadline(task, std::nullopt);
  }
  if (!task.asked_to_end_at) task.asked_to_end_at = now_;
  base::Instant limit = now_ + grace + limits_.kill_allowance;
  // Asking again never gives it more time.
  if (task.phase == Phase::kEnding && task.deadline) limit = std::min(limit, *task.deadline);
  enter(task, Phase::kEnding);
  set_deadline(task, limit);
  decide(End{task.id, task.allocated_attempt, grace});
}

void Gang::leave(Task& task, Outcome outcome) {
  task.outcome = outcome;
  task.silent = false;
  enter(task, Phase::kGone);
  finish_if_gone();
}

// The tasks for which it was there have ended: it goes on only as long as its grace permits.
bool Gang::in_grace(const Task& task) const {
  if (stage_ == Stage::kStopping) {
    return task.policy == Policy::kSidecar && task.phase == Phase::kRunning;
  }
  return stage_ == Stage::kFinishing && task.policy == Policy::kObserver &&
         (task.phase == Phase::kStarting || task.phase == Phase::kRunning);
}

bool Gang::prolongs_grace(const Task& task) const {
  return stage_ == Stage::kFinishing && !task.silent && in_grace(task);
}

// The deadline of a task that was told to end.
std::chrono::milliseconds Gang::grace_left(const Task& task) const {
  const auto left = *task.deadline - now_ - limits_.kill_allowance;
  const auto grace = std::chrono::duration_cast<std::chrono::milliseconds>(left);
  return std::max(grace, grace.zero());
}

void Gang::finish_if_tracked_succeeded() {
  if (stage_ != Stage::kRunning) return;
  recount();
  for (const Group& group : groups_) {
    if (group.count(Trait::kUnsucceeded) > 0) return;
  }
  stage_ = Stage::kFinishing;
  touch_all();
  for (Task& task : tasks_) {
    if (task.policy == Policy::kSidecar || is_done(task)) continue;
    // Its work is complete now: it checks that at once.
    if (task.restart_at && task.phase == Phase::kIdle && task.grace.count() > 0) start(task);
    if (in_grace(task) && task.grace.count() > 0) {
      enter(task, task.phase);
    } else {
      end(task, timeouts_.stop);
    }
  }
}

void Gang::finish_if_observed() {
  if (stage_ != Stage::kFinishing) return;
  recount();
  const bool observed = std::all_of(groups_.begin(), groups_.end(), [](const Group& group) {
    return group.policy != Policy::kObserver || group.count(Trait::kUndone) == 0;
  });
  if (observed) stop_job(job::JobState::kSucceeded, timeouts_.stop);
}

void Gang::fail_job(const Failure& failure) {
  if (failures_.size() < kMaxFailures) failures_.push_back(failure);
  if (stage_ != Stage::kStopping) stop_job(job::JobState::kFailed, timeouts_.stop);
}

void Gang::stop_job(job::JobState verdict, std::chrono::milliseconds grace) {
  stage_ = Stage::kStopping;
  verdict_ = verdict;
  touch_all();
  for (Task& task : tasks_) {
    if (task.phase == Phase::kEnding) {
      if (grace.count() == 0 && !task.killed) end(task, grace);
      continue;
    }
    const bool lingers =
        verdict == job::JobState::kSucceeded && in_grace(task) && task.grace.count() > 0;
    if (lingers) {
      enter(task, task.phase);
    } else {
      end(task, task.phase == Phase::kIdle ? std::chrono::milliseconds(0) : grace);
    }
  }
  finish_if_gone();
}

void Gang::finish_if_gone() {
  if (stage_ != Stage::kStopping) return;
  recount();
  for (const Group& group : groups_) {
    if (group.count(Trait::kAlive) > 0) return;
  }
  stage_ = Stage::kFinished;
  deadlines_.clear();
  decide(Finish{verdict_, first_cause()});
}

std::optional<job::JobState> Gang::verdict() const {
  const bool is_decided = stage_ == Stage::kStopping || stage_ == Stage::kFinished;
  return is_decided ? std::optional(verdict_) : std::nullopt;
}

std::optional<job::Cause> Gang::first_cause() const {
  if (!verdict() || verdict_ == job::JobState::kSucceeded || failures_.empty()) {
    return std::nullopt;
  }
  // The request for the end is its cause, whatever else went wrong on the way.
  if (verdict_ == job::JobState::kKilled) return failures_.front().cause;
  const auto earlier = [](const Failure& a, const Failure& b) { return a.at < b.at; };
  const auto first = std::min_element(failures_.begin(), failures_.end(), earlier);
  job::Cause cause = first->cause;
  const Failure* next = nullptr;
  for (const Failure& failure : failures_) {
    if (&failure != &*first && (next == nullptr || failure.at < next->at)) next = &failure;
  }
  if (next != nullptr && next->cause.task) {
    cause.next = job::Follower{*next->cause.task, milliseconds_of(next->at - first->at)};
  }
  return cause;
}

void Gang::on(const StopRequested& event) {
  if (stage_ == Stage::kNew) {
    stage_ = Stage::kFinished;
    verdict_ = job::JobState::kKilled;
    return decide(Finish{verdict_, job::Cause{.why = stopped_by(event)}});
  }
  if (stage_ == Stage::kStopping) return hurry();
  Failure failure;
  failure.cause.why = stopped_by(event);
  failure.at = now_;
  failures_.assign(1, failure);
  stop_job(job::JobState::kKilled, event.at_once ? std::chrono::milliseconds(0) : timeouts_.stop);
}

// Asked again while stopping: nobody is given time any more.
void Gang::hurry() {
  touch_all();
  for (Task& task : tasks_) {
    if (!task.killed) end(task, std::chrono::milliseconds(0));
  }
}

void Gang::on(const ClusterGone& event) {
  if (stage_ == Stage::kStopping) return;
  if (stage_ == Stage::kNew) {
    stage_ = Stage::kFinished;
    verdict_ = job::JobState::kFailed;
    return decide(Finish{verdict_, job::Cause{.why = why_of(event)}});
  }
  Failure failure;
  failure.cause.why = why_of(event);
  failure.at = now_;
  fail_job(failure);
}

void Gang::on(const TimePassed&) {
  if (job_deadline_ && stage_ != Stage::kStopping && *job_deadline_ <= now_) {
    Failure failure;
    failure.cause.why = {.reason = job::Reason::kJobTimeout, .limit = timeouts_.job};
    failure.at = now_;
    fail_job(failure);
  }
  forget_touched();
  while (stage_ != Stage::kFinished && !deadlines_.empty() && deadlines_.begin()->first <= now_) {
    Task& task = tasks_[deadlines_.begin()->second];
    touch(task);
    set_deadline(task, std::nullopt);
    expired(task);
    // Each only once: a gang of thousands may be late all at the same time.
    forget_touched();
  }
  if (stage_ == Stage::kGathering && publish_at_ && *publish_at_ <= now_) {
    publish_at_.reset();
    publish_if_complete();
  }
}

void Gang::expired(Task& task) {
  if (task.silent && task.phase != Phase::kEnding) {
    decide(Kill{task.id, task.allocated_attempt});
    return agent_lost(task, {.task = task.id,
                             .attempt = task.allocated_attempt,
                             .why = {.reason = job::Reason::kNoHeartbeat, .limit = limits_.silence},
                             .ended_at = now_});
  }
  if (in_grace(task)) return grace_over(task);
  switch (task.phase) {
    case Phase::kAsked:
    case Phase::kAllocated:
    case Phase::kStarting: return expired_without_place(task);
    case Phase::kEnding: return expired_ending(task);
    case Phase::kStopping:
      decide(Kill{task.id, task.allocated_attempt});
      task.killed = true;
      enter(task, Phase::kEnding);
      return set_deadline(task, now_ + limits_.kill_allowance);
    case Phase::kIdle:
    case Phase::kGone: return restart_now(task);
    case Phase::kRunning:
    case Phase::kRegistered: GANGRUN_CHECK(false, static_cast<int>(task.phase));
  }
}

void Gang::grace_over(Task& task) {
  if (task.policy == Policy::kObserver) {
    task.exit = job::Why{.reason = job::Reason::kNoProgress, .limit = task.grace};
    warn(NoProgress{task.id, task.grace});
  }
  end(task, timeouts_.stop);
  finish_if_observed();
}

void Gang::expired_without_place(Task& task) {
  if (task.phase == Phase::kAsked) {
    task.exit = job::Why{.reason = job::Reason::kAllocationTimeout,
                         .limit = timeouts_.allocation,
                         .detail = cluster_waits_for_};
  } else {
    task.exit = job::Why{
        .reason = job::Reason::kRollCallTimeout,
        .limit = timeouts_.roll_call,
        .detail = std::string(task.phase == Phase::kAllocated ? kDidNotReport : kDidNotStart)};
  }
  const Failure failure = failure_of(task, *task.exit, now_);
  if (task.policy == Policy::kSidecar) {
    warn_of(failure, TaskFailed::Then::kWithoutIt);
    return end(task, timeouts_.stop);
  }
  if (task.phase != Phase::kStarting && can_do_without(task)) return go_on_without(task, failure);
  fail_job(failure);
}

void Gang::expired_ending(Task& task) {
  if (!task.killed) {
    task.killed = true;
    decide(Kill{task.id, task.allocated_attempt});
    return set_deadline(task, now_ + limits_.kill_allowance);
  }
  warn(EndNotConfirmed{task.id, task.host});
  const Failure failure = failure_of(task, {.reason = job::Reason::kStopTimeout}, now_);
  // The result of its run is known.
  leave(task, task.outcome == Outcome::kNone ? Outcome::kLost : task.outcome);
  if (!is_wanted(task)) return;
  // Another one beside it would be two of the same: the job goes on without it, or not at all.
  task.dropped = true;
  const bool may_run = task.member && task.has_run;
  if (may_run || !can_do_without(task)) fail_job(failure);
}

job::JobState Gang::state() const {
  switch (stage_) {
    case Stage::kNew: return job::JobState::kAllocating;
    case Stage::kGathering: break;
    case Stage::kRunning:
    case Stage::kFinishing: return job::JobState::kRunning;
    case Stage::kStopping: return job::JobState::kStopping;
    case Stage::kFinished: return verdict_;
  }
  if (gathered_before_) return job::JobState::kRestarting;
  return count(Trait::kAsked) > 0 ? job::JobState::kAllocating : job::JobState::kRollCall;
}

std::string Gang::gathering_words() const {
  std::vector<const Task*> asked;
  std::vector<const Task*> allocated;
  std::vector<const Task*> stopping;
  std::vector<const Task*> silent;
  std::vector<const Task*> pausing;
  std::size_t members = 0;
  for (const Task& task : tasks_) {
    if (task.policy == Policy::kSidecar || task.dropped) continue;
    ++members;
    if (task.phase == Phase::kAsked) asked.push_back(&task);
    if (task.phase == Phase::kAllocated) allocated.push_back(&task);
    if (task.silent) silent.push_back(&task);
    if (task.restart_at) pausing.push_back(&task);
    if (task.phase == Phase::kStopping || task.phase == Phase::kEnding) stopping.push_back(&task);
  }
  if (!stopping.empty()) return format("restart: {} still to stop", names(stopping));
  if (!pausing.empty()) return format("the pause before the restart of {}", names(pausing));
  if (publish_at_ && asked.empty() && allocated.empty()) return "the pause before the restart";
  if (asked.empty() && allocated.empty()) return format("news of {}", names(silent));
  if (!asked.empty()) {
    const std::string reason = cluster_waits_for_.empty() ? "" : format(": {}", cluster_waits_for_);
    return format("a place for {} ({} of {} tasks have one){}", names(asked),
                  members - asked.size(), members, reason);
  }
  return format("the report of {} ({} of {} tasks have reported)", names(allocated),
                members - allocated.size(), members);
}

// The next deadline. If it is that of a task that was told to stop, the result is the end of the
// task's own time, as long as that lasts: the allowance for its host after that is no time of the
// task.
std::optional<base::Instant> Gang::shown_limit(base::Instant now) const {
  const auto next = next_deadline();
  const auto task = std::find_if(tasks_.begin(), tasks_.end(), [&](const Task& candidate) {
    return candidate.deadline && candidate.deadline == next;
  });
  const bool has_time = task != tasks_.end() && !task->killed && !task->silent &&
                        (task->phase == Phase::kEnding || task->phase == Phase::kStopping);
  if (!has_time) return next;
  const base::Instant own = *next - limits_.kill_allowance;
  return own > now ? own : *next;
}

std::string Gang::waiting_for(base::Instant now) const {
  std::string text;
  if (stage_ == Stage::kGathering) {
    text = gathering_words();
  } else if (stage_ == Stage::kFinishing || stage_ == Stage::kStopping) {
    std::vector<const Task*> awaited;
    for (const Task& task : tasks_) {
      const bool counts = stage_ == Stage::kStopping || task.policy == Policy::kObserver;
      if (counts && (task.deadline || task.phase == Phase::kEnding)) awaited.push_back(&task);
    }
    text = awaited.empty() ? "" : format("the end of {}", names(awaited));
  } else {
    std::vector<const Task*> silent;
    std::vector<const Task*> starting;
    std::vector<const Task*> pausing;
    for (const Task& task : tasks_) {
      if (!task.deadline || task.phase == Phase::kEnding || !task.member) continue;
      (task.silent ? silent : task.restart_at ? pausing : starting).push_back(&task);
    }
    if (!starting.empty()) {
      text = format("the start of {}", names(starting));
      const bool lacks_place = std::any_of(starting.begin(), starting.end(), [](const Task* task) {
        return task->phase == Phase::kAsked;
      });
      if (lacks_place && !cluster_waits_for_.empty()) text += format(" ({})", cluster_waits_for_);
    }
    if (!silent.empty()) text = format("news of {}", names(silent));
    if (text.empty() && !pausing.empty()) {
      text = format("the pause before the restart of {}", names(pausing));
    }
    if (text.empty()) text = resize_words();
    if (text.empty() && job_deadline_) text = "the end of its tasks";
  }
  if (text.empty()) return text;
  const auto limit = shown_limit(now);
  if (limit && *limit > now) text += format("; limit in {}", base::to_words(*limit - now));
  return text;
}

job::TaskState state_of(const Task& task) {
  switch (task.phase) {
    case Phase::kAsked: return job::TaskState::kWaiting;
    case Phase::kAllocated: return job::TaskState::kAllocated;
    case Phase::kRegistered:
      return task.member ? job::TaskState::kRegistered : job::TaskState::kSpare;
    case Phase::kStarting: return job::TaskState::kStarting;
    case Phase::kRunning: return job::TaskState::kRunning;
    case Phase::kStopping: return job::TaskState::kStopping;
    case Phase::kIdle:
      if (task.restart_at) return job::TaskState::kRegistered;
      break;
    case Phase::kGone:
      if (task.restart_at) return job::TaskState::kWaiting;
      break;
    case Phase::kEnding: break;
  }
  switch (task.outcome) {
    case Outcome::kNone: return job::TaskState::kStopping;
    case Outcome::kSucceeded: return job::TaskState::kSucceeded;
    case Outcome::kFailed: return job::TaskState::kFailed;
    case Outcome::kStopped: return job::TaskState::kStopped;
    case Outcome::kLost: return job::TaskState::kLost;
  }
  return job::TaskState::kStopping;
}

}  // namespace gangrun::gang
