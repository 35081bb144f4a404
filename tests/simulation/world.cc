#include "simulation/world.h"

#include <algorithm>

#include "base/format.h"

namespace gangrun::simulation {

using std::chrono::milliseconds;

namespace {

// Longer than any job of a schedule can take: its runs, its restarts and all its time limits.
constexpr std::chrono::hours kBound(24);
// After the end of the job: nothing of it may be left when this has passed.
constexpr std::chrono::minutes kAftermath(30);

}  // namespace

base::WallTime wall_time(base::Instant now) {
  constexpr std::chrono::hours kSinceEpoch(24 * 365 * 56);
  return base::WallTime(
      std::chrono::duration_cast<base::WallTime::duration>(now.time_since_epoch() + kSinceEpoch));
}

World::World(Schedule schedule, Random random, bool verbose)
    : schedule_(std::move(schedule)),
      random_(random),
      verbose_(verbose),
      now_(base::Duration(random_.between(0, 1'000'000'000'000))),
      origin_(now_),
      follower_(schedule_.spec, schedule_.limits) {
  const gang::Gang gang(schedule_.spec, schedule_.limits);
  for (const gang::Task& task : gang.tasks()) {
    index_[task.id] = policies_.size();
    policies_.push_back(task.policy);
  }
  last_exit_ok_.resize(policies_.size());
  running_of_task_.resize(policies_.size());
}

World::~World() = default;

std::optional<job::JobState> World::state() const {
  return finish_ ? std::optional(finish_->state) : std::nullopt;
}

std::vector<std::string> World::run() {
  plan_trouble();
  begin();
  while (!over_ && violations_.empty() && advance()) {
  }
  if (master_ && violations_.empty() && random_.chance(250)) (void)judge_replay();
  // The master ends, and with it all sessions.
  if (master_) bury_master();
  const base::Instant end = now_ + kAftermath;
  while (violations_.empty() && !pending_.empty() && pending_.top().at < end) advance();
  judge_end();
  return violations_;
}

void World::later(std::int64_t delay_ms, std::function<void()> action) {
  // Not in whole milliseconds, so that two things seldom fall on one moment.
  const auto delay = milliseconds(delay_ms) + base::Duration(random_.between(0, 999'999));
  later_at(now_ + delay, std::move(action));
}

void World::later_at(base::Instant at, std::function<void()> action) {
  pending_.push({at, number_++, std::move(action)});
}

// To the next thing that happens in the world or that the master waits for.
bool World::advance() {
  if (master_is_dying_) bury_master();
  if (!over_ && now_ - origin_ > kBound) violated("P7: the job does not end");
  const auto deadline = master_ ? master_->next_deadline() : std::nullopt;
  if (!deadline && pending_.empty()) {
    violated("P7: nothing is under way and no deadline is set");
    return false;
  }
  if (deadline && (pending_.empty() || *deadline < pending_.top().at)) {
    now_ =
        std::max(now_, *deadline) + milliseconds(random_.chance(500) ? 0 : random_.between(0, 50));
    master_->on_time();
  } else {
    now_ = std::max(now_, pending_.top().at);
    const auto action = std::move(const_cast<Pending&>(pending_.top()).action);
    pending_.pop();
    action();
  }
  if (master_ && !master_is_dying_ && random_.chance(schedule_.mischief.replay)) {
    (void)judge_replay();
  }
  return true;
}

void World::plan_trouble() {
  const Mischief& bad = schedule_.mischief;
  const auto tell = [this](std::int64_t when, gang::Event event) {
    later(when, [this, event = std::move(event)] {
      if (master_ && !master_is_dying_) master_->handle(event);
    });
  };
  if (random_.chance(bad.stop_request)) {
    std::int64_t when = random_.between(0, 2 * schedule_.longest_run_ms + 10'000);
    for (std::int64_t times = random_.between(1, 3); times > 0; --times) {
      tell(when, gang::StopRequested{"Ctrl-C", random_.chance(200)});
      when += random_.between(0, 20'000);
    }
  }
  if (random_.chance(bad.cluster_gone)) {
    tell(random_.between(0, 400'000), gang::ClusterGone{"the cluster has gone away"});
  }
  if (random_.chance(200)) {
    tell(random_.between(0, 5'000), gang::ClusterWaiting{"the queue is full"});
  }
  if (random_.chance(200)) tell(random_.between(0, 50'000), gang::TimePassed{});
  if (random_.chance(bad.master_killed)) {
    for (std::int64_t times = random_.between(1, 3); times > 0; --times) {
      later(random_.between(0, 200'000), [this] {
        if (master_) kill_master("of a signal");
      });
    }
  }
  if (random_.chance(bad.disk_full)) {
    disk_full_from_ = now_ + milliseconds(random_.between(0, 100'000));
    disk_full_until_ = disk_full_from_ +
                       milliseconds(random_.between(0, random_.chance(700) ? 100'000 : 1'000'000));
  }
}

}  // namespace gangrun::simulation
