#include "gang/gang.h"

#include <algorithm>

// Allocation, roll call, start, and what happens to a task then. Restarts are in gang_restarts.cc,
// smaller gangs and spares in gang_elastic.cc; how a job ends is in gang_end.cc.
namespace gangrun::gang {

using job::Policy;

Gang::Gang(const job::JobSpec& spec, Limits limits)
    : success_(spec.success), restarts_(spec.restarts), timeouts_(spec.timeouts), limits_(limits) {
  for (const job::TaskSpec& task_spec : spec.tasks) {
    Group group;
    group.policy = job::effective_policy(spec, task_spec);
    group.first = tasks_.size();
    group.slots = static_cast<std::size_t>(task_spec.slots());
    group.instances = static_cast<std::size_t>(task_spec.instances);
    group.needed = static_cast<std::size_t>(task_spec.needed());
    flexible_ |= group.slots > group.needed;
    for (int index = 0; index < task_spec.slots(); ++index) {
      Task task;
      task.id = {task_spec.type, index};
      task.group = groups_.size();
      task.member = index < task_spec.instances;
      if (task.member) group.places.push_back(tasks_.size());
      task.policy = job::effective_policy(spec, task_spec);
      task.grace = task_spec.grace;
      task.pause = pause_;
      index_[task.id] = tasks_.size();
      tasks_.push_back(std::move(task));
    }
    groups_.push_back(std::move(group));
  }
  counted_.resize(tasks_.size());
  touch_all();
  forget_touched();
}

std::vector<Decision> Gang::step(const Event& event, base::Instant now) {
  if (!matters(event, now)) return {};
  now_ = now;
  decisions_.clear();
  std::visit([this](const auto& e) { on(e); }, event);
  if (flexible_) adapt();
  forget_touched();
  return std::exchange(decisions_, {});
}

std::optional<base::Instant> Gang::next_deadline() const {
  std::optional<base::Instant> next;
  if (stage_ == Stage::kFinished) return next;
  if (!deadlines_.empty()) next = deadlines_.begin()->first;
  if (job_deadline_ && stage_ != Stage::kStopping)
    next = next ? std::min(*next, *job_deadline_) : job_deadline_;
  if (resize_at_) next = next ? std::min(*next, *resize_at_) : resize_at_;
  if (publish_at_ && stage_ == Stage::kGathering) {
    next = next ? std::min(*next, *publish_at_) : publish_at_;
  }
  return next;
}

const Task* Gang::find(const job::TaskId& id) const {
  const auto found = index_.find(id);
  return found == index_.end() ? nullptr : &tasks_[found->second];
}

Task* Gang::current(const job::TaskId& id, int attempt) {
  const auto found = index_.find(id);
  if (found == index_.end() || tasks_[found->second].attempt != attempt) return nullptr;
  touch(tasks_[found->second]);
  return &tasks_[found->second];
}

Task* Gang::allocated(const job::TaskId& id, int attempt) {
  const auto found = index_.find(id);
  if (found == index_.end() || tasks_[found->second].allocated_attempt != attempt) return nullptr;
  touch(tasks_[found->second]);
  return &tasks_[found->second];
}

void Gang::set_deadline(Task& task, std::optional<base::Instant> deadline) {
  const std::size_t index = index_of(task);
  if (task.deadline) deadlines_.erase({*task.deadline, index});
  task.deadline = deadline;
  if (deadline) deadlines_.insert({*deadline, index});
}

// Every phase that waits for somebody else has a time limit; kRegistered waits for tasks that have
// theirs. While no heartbeat comes from its agent, the limit stays the end of its lease.
void Gang::enter(Task& task, Phase phase) {
  if (phase != task.phase) task.restart_at.reset();
  task.phase = phase;
  if (task.silent && phase != Phase::kEnding) return;
  if (in_grace(task)) return set_deadline(task, now_ + task.grace);
  switch (phase) {
    case Phase::kAsked:
      // Tasks without which the gang can run may come whenever there is room for them.
      if (!task.member && can_do_without(task)) return set_deadline(task, std::nullopt);
      return set_deadline(task, now_ + timeouts_.allocation);
    case Phase::kAllocated:
    case Phase::kStarting: return set_deadline(task, now_ + timeouts_.roll_call);
    case Phase::kStopping:
      return set_deadline(task, now_ + timeouts_.stop + limits_.kill_allowance);
    case Phase::kRegistered:
    case Phase::kRunning:
    case Phase::kEnding: return set_deadline(task, std::nullopt);  // end() knows the grace
    case Phase::kIdle:
    case Phase::kGone: return set_deadline(task, task.restart_at);
  }
}

void Gang::ask(Task& task) {
  if (task.phase == Phase::kGone) task.allocated_attempt = ++task.attempt;
  task.exit.reset();
  std::vector<std::string> avoided = hosts_.to_avoid(now_);
  std::optional<job::Address> wanted;
  if (task.address.port != 0 && !hosts_.avoids(task.host, now_)) wanted = task.address;
  task.has_run = task.silent = task.killed = false;
  task.begun_at = now_;
  task.asked_to_end_at.reset();
  task.host.clear();
  task.outcome = Outcome::kNone;
  enter(task, Phase::kAsked);
  decide(Allocate{task.id, task.attempt, wanted, std::move(avoided)});
}

void Gang::start(Task& task) {
  if (task.has_run) ++task.attempt;
  task.exit.reset();
  task.has_run = true;
  task.begun_at = now_;
  task.outcome = Outcome::kNone;
  enter(task, Phase::kStarting);
  decide(Start{task.id, task.attempt, spec_published_.generation, task.starts++});
}

void Gang::on(const Begin&) {
  if (stage_ != Stage::kNew) return;
  stage_ = Stage::kGathering;
  waiting_since_ = now_;
  if (timeouts_.job.count() > 0) job_deadline_ = now_ + timeouts_.job;
  touch_all();
  for (Task& task : tasks_) ask(task);
}

void Gang::on(const ClusterWaiting& event) { cluster_waits_for_ = event.reason; }

void Gang::on(const Allocated& event) {
  Task* task = allocated(event.task, event.attempt);
  if (task == nullptr) return;
  // A report may outrun the cluster's own news.
  if (task->phase != Phase::kAsked) return;
  task->host = event.host;
  hosts_.saw(event.host);
  enter(*task, Phase::kAllocated);
}

void Gang::on(const Reported& event) {
  Task* task = current(event.task, event.attempt);
  if (task == nullptr) return;
  if (task->phase != Phase::kAsked && task->phase != Phase::kAllocated) {
    return reported_again(*task, event.address);
  }
  // Its port was lost: only a report of another one is new.
  if (task->has_run && event.address == task->address) return;
  const job::Address before = std::exchange(task->address, event.address);
  // If its place has told of it and named no host (pods), the address names none either.
  if (task->phase == Phase::kAsked) {
    task->host = event.address.host;
    hosts_.saw(task->host);
  }
  task->silent = false;
  enter(*task, Phase::kRegistered);
  waiting_since_ = now_;
  if (stage_ == Stage::kGathering) {
    publish_if_complete();
  } else if (stage_ == Stage::kFinishing) {
    end(*task, timeouts_.stop);
  } else if (!task->member) {
    return;  // adapt() finds a use for it
  } else if (task->policy == Policy::kSidecar || is_as_published(*task)) {
    start(*task);
  } else {
    // It could not come back where the others know it: they all need the next generation.
    warn(CameBackElsewhere{task->id, task->address, before});
    restart_gang();
  }
}

bool Gang::is_as_published(const Task& task) const {
  const job::Address* published = spec_published_.find(task.id);
  return published != nullptr && *published == task.address;
}

void Gang::publish_if_complete() {
  if (publish_at_ && *publish_at_ > now_) return;
  recount();
  if (flexible_) {
    const auto seats = seating(now_ >= waiting_since_ + timeouts_.shrink);
    if (!seats) return;
    take(*seats);
    return publish();
  }
  if (count(Trait::kUnregistered) == 0) publish();
}

void Gang::publish() {
  job::ClusterSpec spec;
  spec.generation = spec_published_.generation + 1;
  for (const Group& group : groups_) {
    if (group.policy == Policy::kSidecar) continue;
    const std::string& type = tasks_[group.first].id.type;
    std::vector<int> members;
    bool in_order = true;
    for (const std::size_t index : group.places) {
      spec.tasks[type].push_back(tasks_[index].address);
      in_order &= index == group.first + members.size();
      members.push_back(tasks_[index].id.index);
    }
    if (!in_order) spec.members[type] = std::move(members);
  }
  spec_published_ = std::move(spec);
  published_at_ = now_;
  publish_at_.reset();
  stage_ = Stage::kRunning;
  gathered_before_ = true;
  decide(Publish{spec_published_});
  touch_all();
  for (Task& task : tasks_) {
    task.lacked = false;
    if (task.phase == Phase::kRegistered && task.member) start(task);
  }
}

void Gang::on(const Started& event) {
  Task* task = current(event.task, event.attempt);
  if (task == nullptr) return;
  has_run_ = true;
  if (task->phase != Phase::kStarting) return;
  // An agent that is about to be taken away may start another run.
  if (task->attempt == task->allocated_attempt) task->lacked = false;
  enter(*task, Phase::kRunning);
}

void Gang::on(const job::Exited& event) {
  Task* task = current(event.task, event.attempt);
  if (task == nullptr) return;
  const job::Why& why = event.report.why;
  has_run_ = has_run_ || (why != job::not_begun() && job::has_begun(why.reason));
  switch (task->phase) {
    case Phase::kStarting:
    case Phase::kRunning: break;
    case Phase::kStopping:
      task->exit = event.report.why;
      task->exit->reason = job::Reason::kStopped;
      enter(*task, event.report.port_lost ? Phase::kAllocated : Phase::kRegistered);
      return publish_if_complete();
    case Phase::kEnding: return exited_while_ending(*task, event);
    case Phase::kAsked:
    case Phase::kAllocated:
    case Phase::kRegistered:
    case Phase::kIdle:
    case Phase::kGone: return;
  }
  task->exit = event.report.why;
  task->lacked = false;
  if (event.report.success) return succeeded(*task);
  enter(*task, Phase::kIdle);
  const Failure failure = failure_of(*task, event);
  if (event.report.port_lost) return failed_for_its_port(*task, failure);
  const job::Reason reason = event.report.why.reason;
  failed(*task, failure, job::is_own_fault(reason), job::has_begun(reason));
}

// Its agent takes another port and reports again; everything else about it stays.
void Gang::failed_for_its_port(Task& task, Failure failure) {
  const bool has_another = task.lost_ports < limits_.max_lost_ports;
  if (has_another) {
    ++task.lost_ports;
  } else {
    failure.cause.lost_ports = task.lost_ports;
  }
  const bool ends = stage_ == Stage::kStopping || stage_ == Stage::kFinished;
  if (task.policy == Policy::kSidecar && has_another && !ends) {
    // Nobody knows its port: it alone starts again.
    warn_of(failure, TaskFailed::Then::kAnotherPort);
    return enter(task, Phase::kAllocated);
  }
  if (has_another && task.policy != Policy::kSidecar) enter(task, Phase::kAllocated);
  failed(task, failure, false, has_another);
}

void Gang::on(const SessionLost& event) {
  Task* task = current(event.task, event.attempt);
  if (task == nullptr || task->silent) return;
  switch (task->phase) {
    case Phase::kAllocated:
      if (!task->has_run) return;  // its agent has not been heard of yet
      [[fallthrough]];
    case Phase::kRegistered:
    case Phase::kStarting:
    case Phase::kRunning:
    case Phase::kStopping:
    case Phase::kIdle: return fall_silent(*task);
    case Phase::kEnding:  // its deadline stands
    case Phase::kAsked:
    case Phase::kGone: return;
  }
}

void Gang::fall_silent(Task& task) {
  task.silent = true;
  set_deadline(task, now_ + limits_.silence);
}

// Decisions made while no session was open may not have arrived; agents ignore what they have
// done already.
void Gang::on(const Reattached& event) {
  Task* task = current(event.task, event.attempt);
  if (task == nullptr) return;
  if (task->phase == Phase::kEnding) {
    return decide(End{task->id, task->allocated_attempt, grace_left(*task)});
  }
  if (task->silent) {
    task->silent = false;
    enter(*task, task->phase);
  }
  if (task->phase == Phase::kStarting)
    decide(Start{task->id, task->attempt, spec_published_.generation, task->starts - 1});
  if (task->phase == Phase::kStopping) decide(Stop{task->id, task->attempt, timeouts_.stop});
}

void Gang::on(const job::AgentEnded& event) {
  Task* task = allocated(event.task, event.attempt);
  if (task == nullptr) return;
  if (task->phase == Phase::kGone) return correct_failure(*task, event);
  agent_lost(*task, event);
}

void Gang::agent_lost(Task& task, const job::AgentEnded& how) {
  const Phase phase = task.phase;
  if (phase == Phase::kIdle) {
    const auto restart_at = task.restart_at;
    leave(task, task.outcome);
    task.restart_at = restart_at;
    return enter(task, Phase::kGone);
  }
  const bool on_its_own = !task.asked_to_end_at || how.ended_at < *task.asked_to_end_at;
  if (phase == Phase::kEnding) {
    const bool matters =
        stage_ == Stage::kStopping && task.policy != Policy::kSidecar && task.member;
    if (matters && on_its_own && task.outcome == Outcome::kNone) {
      task.exit = how.why;
      failures_.push_back(failure_of(task, how));
      return leave(task, Outcome::kFailed);
    }
    leave(task, task.outcome == Outcome::kNone ? Outcome::kStopped : task.outcome);
    if (is_wanted(task)) ask(task);
    return;
  }
  if (!task.member) return lost_beside(task, how);
  task.exit = how.why;
  const Failure failure = failure_of(task, how);
  leave(task, Outcome::kFailed);
  if (stage_ == Stage::kStopping || stage_ == Stage::kFinished) return;  // a sidecar in its grace
  // The restart is counted already, be it for this run or for another that the same event ended.
  if (stage_ == Stage::kGathering && task.has_run && task.policy != Policy::kSidecar) {
    waiting_since_ = now_;
    return ask(task);
  }
  // One that ends after its run, which is counted, may have been told to start the next one.
  const bool follows = phase == Phase::kStarting && task.attempt > task.allocated_attempt;
  failed(task, failure, job::is_own_fault(how.why.reason) && !follows, true);
}

// Whether another agent is requested when its own has ended.
bool Gang::is_wanted(const Task& task) const {
  const bool goes_on = stage_ == Stage::kGathering || stage_ == Stage::kRunning;
  return goes_on && task.policy != Policy::kSidecar && !task.dropped;
}

}  // namespace gangrun::gang
