#include "gang/gang.h"
#include "gang/task_traits.h"

// The counts of the tasks of each type.
namespace gangrun::gang {

using job::Policy;

std::uint32_t Gang::traits_of(const Task& task) const {
  std::uint32_t traits = 0;
  const auto set = [&](Trait trait, bool has) {
    if (has) traits |= std::uint32_t{1} << static_cast<unsigned>(trait);
  };
  const bool registered = task.phase == Phase::kRegistered;
  const bool missing = task.member && (is_pending(task) || task.phase == Phase::kEnding);
  const bool needed =
      success_ == "all" ? task.policy == Policy::kTracked : task.id.type == success_;
  set(Trait::kUnregistered, !registered);
  set(Trait::kUndone, !is_done(task));
  set(Trait::kAlive, task.phase != Phase::kGone);
  set(Trait::kAsked, task.member && task.phase == Phase::kAsked);
  set(Trait::kUnsucceeded, needed && task.member && task.outcome != Outcome::kSucceeded);
  set(Trait::kSucceeded, task.outcome == Outcome::kSucceeded);
  set(Trait::kUnstarted, task.member && (task.phase == Phase::kStarting || !task.has_run));
  set(Trait::kMayStillRun, may_still_run(task));
  set(Trait::kFree, is_free(task));
  set(Trait::kDropped, task.dropped);
  set(Trait::kMissing, missing);
  set(Trait::kMissingLost, missing && is_lost(task));
  set(Trait::kThere, task.member && registered && !task.silent);
  set(Trait::kThereSilent, task.member && registered && task.silent);
  set(Trait::kAwaited, task.member && !registered && !is_lost(task));
  set(Trait::kLacked, task.lacked);
  return traits;
}

void Gang::recount(std::size_t index) {
  const Task& task = tasks_[index];
  const std::uint32_t now = traits_of(task);
  const std::uint32_t before = std::exchange(counted_[index], now);
  if (now == before) return;
  auto& counts = groups_[task.group].counts;
  for (std::size_t trait = 0; trait < kTraits; ++trait) {
    counts[trait] += (now >> trait) & 1U;
    counts[trait] -= (before >> trait) & 1U;
  }
}

void Gang::recount() {
  if (all_touched_) {
    for (std::size_t index = 0; index < tasks_.size(); ++index) recount(index);
  } else {
    for (const std::size_t index : touched_) recount(index);
  }
}

// When nobody holds a task that may still change.
void Gang::forget_touched() {
  recount();
  touched_.clear();
  all_touched_ = false;
}

std::size_t Gang::count(Trait trait) const {
  std::size_t sum = 0;
  for (const Group& group : groups_) {
    if (group.policy != Policy::kSidecar) sum += group.count(trait);
  }
  return sum;
}

bool Gang::is_out(const Task& task) const {
  if (stage_ == Stage::kNew || stage_ == Stage::kGathering) return false;
  if (!task.member || task.restart_at) return false;
  return task.phase == Phase::kIdle || task.phase == Phase::kGone;
}

}  // namespace gangrun::gang
