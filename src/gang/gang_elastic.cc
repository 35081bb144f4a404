#include <algorithm>

#include "base/format.h"
#include "gang/gang.h"

// Which tasks of a type are in a generation: spares, gangs that are smaller, and when to change.
namespace gangrun::gang {

using base::format;
using job::Policy;

namespace {

bool is_pending(const Task& task) {
  return task.phase == Phase::kAsked || task.phase == Phase::kAllocated;
}

// A spare that can take a place.
bool is_free(const Task& task) {
  return !task.member && task.phase == Phase::kRegistered && !task.silent;
}

// Its agent has ended since it was last there: it comes back later than a spare, or never.
bool is_lost(const Task& task) {
  return task.dropped || (is_pending(task) && !task.has_run && task.attempt > 1);
}

bool may_still_run(const Task& task) {
  return task.phase == Phase::kStopping || (task.phase == Phase::kEnding && task.has_run);
}

}  // namespace

// After every step: whether there is a reason to publish or to start anew with other members.
void Gang::adapt() {
  resize_at_.reset();
  if (stage_ == Stage::kRunning) {
    const auto when = resize_time();
    if (when && *when <= now_) restart_gang();
  } else if (stage_ == Stage::kGathering) {
    publish_if_complete();
  }
  if (stage_ == Stage::kRunning) resize_at_ = resize_time();
  if (stage_ == Stage::kGathering && seating(true)) {
    resize_at_ = waiting_since_ + timeouts_.shrink;
  }
}

// Who has which place in the next generation; none: somebody has to be awaited. With `waited`
// those that are late have been.
std::optional<Gang::Seats> Gang::seating(bool waited) const {
  const bool stopping = std::any_of(tasks_.begin(), tasks_.end(), [](const Task& task) {
    return task.policy != Policy::kSidecar && may_still_run(task);
  });
  if (stopping) return std::nullopt;
  Seats all;
  for (const Group& group : groups_) {
    all.push_back(group.policy == Policy::kSidecar ? group.places : seats_of(group, waited));
    if (all.back().empty()) return std::nullopt;
  }
  return all;
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
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    Group& group = groups_[g];
    if (group.policy == Policy::kSidecar) continue;
    tell_of_seats(group, seats[g]);
    group.places = seats[g];
    for (std::size_t i = group.first; i < group.first + group.slots; ++i) {
      Task& task = tasks_[i];
      task.member = std::find(group.places.begin(), group.places.end(), i) != group.places.end();
      if (!task.member && task.phase == Phase::kAsked) set_deadline(task, std::nullopt);
    }
  }
}

void Gang::tell_of_seats(const Group& group, const std::vector<std::size_t>& seats) {
  if (seats == group.places) return;
  if (seats.size() == group.places.size()) {
    for (std::size_t place = 0; place < seats.size(); ++place) {
      if (seats[place] == group.places[place]) continue;
      decide(Warn{format("{} takes the place of {}", job::to_string(tasks_[seats[place]].id),
                         job::to_string(tasks_[group.places[place]].id))});
    }
    return;
  }
  const std::string& type = tasks_[group.first].id.type;
  decide(Warn{
      format("the gang has {} of {} tasks of the type {}", seats.size(), group.instances, type)});
}

// When the gang that runs should start anew with other members: a spare takes the place of a lost
// one at once, a smaller gang goes on when the missing were awaited, and a larger one when
// somebody has come and the last generation is not too young. None: it should go on as it is.
std::optional<base::Instant> Gang::resize_time() const {
  std::optional<base::Instant> replace;
  std::optional<base::Instant> grow;
  bool has_succeeded = false;
  for (const Group& group : groups_) {
    if (group.policy == Policy::kSidecar) continue;
    std::size_t missing = 0;
    std::size_t lost = 0;
    std::size_t free = 0;
    for (std::size_t i = group.first; i < group.first + group.slots; ++i) {
      const Task& task = tasks_[i];
      const bool is_missing = task.member && (is_pending(task) || task.phase == Phase::kEnding);
      if (is_missing) ++missing;
      if (is_missing && is_lost(task)) ++lost;
      if (is_free(task)) ++free;
      has_succeeded |= task.policy == Policy::kTracked && task.outcome == Outcome::kSucceeded;
    }
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
    // Who ends is asked for again, where it has no place without a time limit.
    const bool comes = is_pending(other) ? other.deadline.has_value()
                                         : other.member || other.phase != Phase::kEnding;
    if (comes) ++others;
  }
  return others >= group.needed;
}

// No restart is left for a task whose agent is lost, and the others suffice.
void Gang::drop(Task& task, const Failure& failure) {
  task.dropped = true;
  decide(Warn{format("{}; no restart is left, the job goes on without {}", failure.cause.sentence,
                     job::to_string(task.id))});
  failures_.clear();
  if (stage_ == Stage::kRunning) restart_gang();
}

// An agent that ran nothing is lost: another is asked for, not for ever.
void Gang::lost_beside(Task& task, const std::string& sentence, base::Instant at) {
  task.exit = sentence;
  const Failure failure = failure_of(task, sentence, at);
  leave(task, Outcome::kLost);
  if (!is_wanted(task)) return;
  note_trouble(task, true);
  if (may_restart(false)) {
    ++uncounted_restarts_;
    decide(Warn{format("{}; another is asked for", failure.cause.sentence)});
    return ask(task);
  }
  if (!can_do_without(task)) return fail_job(failure);
  task.dropped = true;
  decide(Warn{format("{}; no other is asked for", failure.cause.sentence)});
}

// It has no place yet, or does not report, and its time is over; the others suffice.
void Gang::go_on_without(Task& task, const Failure& failure) {
  if (task.phase == Phase::kAsked) {
    return decide(
        Warn{format("{}; the job goes on without it until it has one", failure.cause.sentence)});
  }
  note_trouble(task, true);
  if (may_restart(false)) {
    ++uncounted_restarts_;
  } else {
    task.dropped = true;
  }
  decide(Warn{format("{}; {}", failure.cause.sentence,
                     task.dropped ? "the job goes on without it" : "another is asked for")});
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
    return format("the time to start anew with {}", base::join(free, ", "));
  }
  if (absent.empty()) return "";
  const std::string reason = cluster_waits_for_.empty() ? "" : format(" ({})", cluster_waits_for_);
  return format("room for {}{}", base::join(absent, ", "), reason);
}

}  // namespace gangrun::gang
