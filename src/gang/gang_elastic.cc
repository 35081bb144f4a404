#include <algorithm>

#include "base/format.h"
#include "gang/gang.h"
#include "gang/task_traits.h"

// Which tasks of a type are in a generation: spares, gangs that are smaller, and when to change.
namespace gangrun::gang {

using base::format;
using job::Policy;

// After every step: whether there is a reason to publish or to start again with other members.
void Gang::adapt() {
  recount();
  resize_at_.reset();
  if (stage_ == Stage::kRunning) {
    const auto when = resize_time();
    if (when && *when <= now_) restart_gang();
  } else if (stage_ == Stage::kGathering) {
    publish_if_complete();
  }
  recount();
  if (stage_ == Stage::kRunning) resize_at_ = resize_time();
  if (stage_ == Stage::kGathering && can_seat_all_waited()) {
    resize_at_ = waiting_since_ + timeouts_.shrink;
    if (publish_at_) resize_at_ = std::max(*resize_at_, *publish_at_);
  }
}

// The task at each place in the next generation; none: somebody has to be awaited. With `waited`
// those that are late have been.
std::optional<Gang::Seats> Gang::seating(bool waited) const {
  if (count(Trait::kMayStillRun) > 0) return std::nullopt;
  for (const Group& group : groups_) {
    if (group.policy != Policy::kSidecar && can_seat(group, waited) == false) return std::nullopt;
  }
  Seats all;
  for (const Group& group : groups_) {
    all.push_back(group.policy == Policy::kSidecar ? group.places : seats_of(group, waited));
    if (all.back().empty()) return std::nullopt;
  }
  return all;
}

// Whether seats_of() finds enough, as far as the counts tell; none: they leave it open.
std::optional<bool> Gang::can_seat(const Group& group, bool waited) const {
  if (!waited && group.count(Trait::kAwaited) > 0) return false;
  const std::size_t obtainable = group.slots - group.count(Trait::kDropped);
  const std::size_t enough =
      std::max(waited ? group.needed : std::min(group.instances, obtainable), group.needed);
  const std::size_t free = group.count(Trait::kFree);
  const std::size_t silent = group.count(Trait::kThereSilent);
  const std::size_t there = group.count(Trait::kThere);
  if (there + silent + free < enough) return false;
  // How many of the silent ones give their place to a free one depends on who they are.
  if (there + std::max(silent, free) >= enough) return true;
  return std::nullopt;
}

bool Gang::can_seat_all_waited() const {
  if (count(Trait::kMayStillRun) > 0) return false;
  bool known = true;
  for (const Group& group : groups_) {
    if (group.policy == Policy::kSidecar) continue;
    const auto can = can_seat(group, true);
    if (can == false) return false;
    known &= can.has_value();
  }
  return known || seating(true).has_value();
}

// Whoever is there keeps the place that it has; free ones take the places of the missing. Empty:
// somebody has to be awaited.
std::vector<std::size_t> Gang::seats_of(const Group& group, bool waited) const {
  std::vector<std::size_t> free;
  std::size_t obtainable = 0;
  for (std::size_t i = group.first; i < group.first + group.slots; ++i) {
    if (is_free(tasks_[i])) free.push_back(i);
    if (!tasks_[i].dropped) ++obtainable;
  }
  auto next = free.begin();
  std::vector<std::size_t> seats;
  for (const std::size_t index : group.places) {
    const Task& task = tasks_[index];
    const bool is_there = task.phase == Phase::kRegistered;
    if (!is_there && !waited && !is_lost(task)) return {};
    if (is_there && (!task.silent || next == free.end())) {
      seats.push_back(index);
    } else if (next != free.end()) {
      seats.push_back(*next++);
    }
  }
  while (seats.size() < group.instances && next != free.end()) seats.push_back(*next++);
  const std::size_t enough = waited ? group.needed : std::min(group.instances, obtainable);
  if (seats.size() < std::max(enough, group.needed)) return {};
  if (seats.size() != group.places.size()) std::sort(seats.begin(), seats.end());
  return seats;
}

void Gang::take(const Seats& seats) {
  touch_all();
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    Group& group = groups_[g];
    if (group.policy == Policy::kSidecar) continue;
    tell_of_seats(group, seats[g]);
    group.places = seats[g];
    for (std::size_t i = group.first; i < group.first + group.slots; ++i) tasks_[i].member = false;
    for (const std::size_t index : group.places) tasks_[index].member = true;
    for (std::size_t i = group.first; i < group.first + group.slots; ++i) {
      Task& task = tasks_[i];
      if (!task.member && task.phase == Phase::kAsked) set_deadline(task, std::nullopt);
    }
  }
}

void Gang::tell_of_seats(const Group& group, const std::vector<std::size_t>& seats) {
  if (seats == group.places) return;
  if (seats.size() == group.places.size()) {
    for (std::size_t place = 0; place < seats.size(); ++place) {
      if (seats[place] == group.places[place]) continue;
      warn(Replaced{tasks_[seats[place]].id, tasks_[group.places[place]].id});
    }
    return;
  }
  const std::string& type = tasks_[group.first].id.type;
  warn(Resized{type, seats.size(), group.instances});
}

// When the gang that runs should start again with other members: a spare takes the place of a lost
// one at once, a smaller gang goes on when the missing were awaited, and a larger one when
// somebody has come and the last generation is not too young. None: it should go on as it is.
std::optional<base::Instant> Gang::resize_time() const {
  std::optional<base::Instant> replace;
  std::optional<base::Instant> grow;
  bool has_succeeded = false;
  for (const Group& group : groups_) {
    if (group.policy == Policy::kSidecar) continue;
    const std::size_t missing = group.count(Trait::kMissing);
    const std::size_t lost = group.count(Trait::kMissingLost);
    const std::size_t free = group.count(Trait::kFree);
    has_succeeded |= group.policy == Policy::kTracked && group.count(Trait::kSucceeded) > 0;
    const std::size_t members = group.places.size();
    const base::Instant waited = waiting_since_ + timeouts_.shrink;
    if (missing > 0) {
      if (members - missing + free < group.needed) return std::nullopt;
      const bool at_once = lost == missing && free >= missing;
      const base::Instant when = at_once ? now_ : waited;
      replace = replace ? std::max(*replace, when) : when;
    } else if (members < group.instances && free > 0) {
      const base::Instant settled = published_at_ + timeouts_.shrink;
      const bool all = members + free >= group.instances;
      const base::Instant when = all ? settled : std::max(settled, waited);
      grow = grow ? std::max(*grow, when) : when;
    }
  }
  if (replace) return replace;
  return has_succeeded ? std::nullopt : grow;
}

// Whether its type has enough others that are there or come within a time limit.
bool Gang::can_do_without(const Task& task) const {
  const Group& group = groups_[task.group];
  std::size_t others = 0;
  for (std::size_t i = group.first; i < group.first + group.slots; ++i) {
    const Task& other = tasks_[i];
    if (&other == &task || other.dropped) continue;
    // A task that ends is requested again, where it has no place without a time limit.
    const bool comes = is_pending(other) ? other.deadline.has_value()
                                         : other.member || other.phase != Phase::kEnding;
    if (comes) ++others;
  }
  return others >= group.needed;
}

// No restart is left for a task whose agent is lost, and the others suffice.
void Gang::drop(Task& task, const Failure& failure) {
  task.dropped = true;
  warn_of(failure, TaskFailed::Then::kWithoutItNoRestartLeft);
  failures_.clear();
  if (stage_ == Stage::kRunning) restart_gang();
}

// An agent that ran nothing is lost: another is requested, as often as is permitted.
void Gang::lost_beside(Task& task, const job::AgentEnded& how) {
  task.exit = how.why;
  const Failure failure = failure_of(task, how);
  leave(task, Outcome::kLost);
  if (!is_wanted(task)) return;
  note_trouble(task, true);
  if (may_restart(false)) {
    ++uncounted_restarts_;
    warn_of(failure, TaskFailed::Then::kAnotherAgent);
    return ask(task);
  }
  if (!can_do_without(task)) return fail_job(failure);
  task.dropped = true;
  warn_of(failure, TaskFailed::Then::kNoOtherAgent);
}

// It has no place yet, or does not report, and its time is over; the others suffice.
void Gang::go_on_without(Task& task, const Failure& failure) {
  if (task.phase == Phase::kAsked) {
    return warn_of(failure, TaskFailed::Then::kWithoutItUntilPlaced);
  }
  note_trouble(task, true);
  if (may_restart(false)) {
    ++uncounted_restarts_;
  } else {
    task.dropped = true;
  }
  warn_of(failure, task.dropped ? TaskFailed::Then::kWithoutIt : TaskFailed::Then::kAnotherAgent);
  end(task, timeouts_.stop);
}

// While the gang runs: what it would need to be whole.
std::string Gang::resize_words() const {
  std::vector<std::string> free;
  std::vector<std::string> absent;
  for (const Group& group : groups_) {
    if (group.places.size() >= group.instances) continue;
    for (std::size_t i = group.first; i < group.first + group.slots; ++i) {
      const Task& task = tasks_[i];
      if (is_free(task)) free.push_back(job::to_string(task.id));
      if (is_pending(task) && !task.member) absent.push_back(job::to_string(task.id));
    }
  }
  if (!free.empty() && resize_at_) {
    return format("the time to restart with {}", base::join(free, ", "));
  }
  if (absent.empty()) return "";
  const std::string reason = cluster_waits_for_.empty() ? "" : format(" ({})", cluster_waits_for_);
  return format("room for {}{}", base::join(absent, ", "), reason);
}

}  // namespace gangrun::gang
