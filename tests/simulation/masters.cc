#include "base/format.h"
#include "simulation/world.h"

// The life of masters, one after another.
namespace gangrun::simulation {

namespace {

constexpr std::int64_t kMaxNoticeMs = 20'000;
constexpr std::int64_t kNoticeAtOnceMs = 500;
// A master of a large gang does so much more that it would never get far.
constexpr std::int64_t kFatalSteps = 32;
constexpr std::int64_t kRetryMs = 1'000;

}  // namespace

void World::begin() {
  master_ =
      std::make_unique<Master>(*this, gang::Gang(schedule_.spec, schedule_.limits), new_segment());
  master_->begin(random_.chance(5));
}

// None: the disk is full, or the master has died in the first line.
std::unique_ptr<journal::Writer> World::new_segment() {
  DiskFile& file = disk_.emplace_back();
  journal::Opening opening;
  opening.job_id = "simulated-1";
  opening.attempt = masters();
  opening.started = wall_time(now_);
  opening.origin = now_;
  auto writer =
      journal::Writer::create_on(std::make_unique<VirtualFile>(
                                     file, [this](std::size_t n) { return fate_of_write(n); },
                                     [this](std::string_view line) { follow(line); }),
                                 base::format("segment {}", masters()), opening);
  if (writer.ok()) return *std::move(writer);
  disk_.pop_back();
  return nullptr;
}

WriteFate World::fate_of_write(std::size_t bytes) {
  const auto part = [&](std::size_t most) {
    return static_cast<std::size_t>(random_.between(0, static_cast<std::int64_t>(most)));
  };
  // A job whose spec is not recorded yet has not begun.
  if (disk_.size() == 1 && disk_.front().whole < 2) return {bytes, false};
  if (master_is_dying_) return {0, false};
  if (master_dies_here()) {
    kill_master("in a write");
    return {random_.chance(200) ? bytes : part(bytes), false};
  }
  if (now_ < disk_full_from_ || now_ >= disk_full_until_) return {bytes, false};
  return {part(bytes - 1), true};
}

bool World::master_dies_here() {
  if (masters() >= schedule_.most_masters) return false;
  if (!random_.chance(schedule_.mischief.master_death)) return false;
  return schedule_.tasks <= kManyTasks || random_.between(1, schedule_.tasks) <= kFatalSteps;
}

void World::kill_master(const std::string& how) {
  if (over_ || master_is_dying_) return;
  say(base::format("the master dies {}", how));
  master_is_dying_ = true;
}

// Its sessions are gone too, which agents notice at their own times.
void World::bury_master() {
  master_.reset();
  master_is_dying_ = false;
  const std::int64_t notice = schedule_.lease_ms == 0 ? kNoticeAtOnceMs : kMaxNoticeMs;
  for (std::size_t id = 0; id < connections_.size(); ++id) {
    Connection& connection = connections_[id];
    if (!connection.master_open) continue;
    connection.master_open = false;
    // The messages that it had sent may be lost, or still arrive.
    connection.broken |= random_.chance(500);
    if (!connection.agent_open) continue;
    later(random_.between(0, notice), [this, id] {
      Agent& agent = agents_[connections_[id].agent];
      if (agent.life != Agent::Life::kAlive || agent.connection != id) return;
      agent.side->on_connection_lost("connection reset", now_);
      agent.arm();
    });
  }
  if (over_) return;
  for (Agent& agent : agents_) {
    if (agent.life == Agent::Life::kPlacing && random_.chance(300)) agent.known = false;
  }
  const bool soon = random_.chance(700);
  later(random_.between(0, soon ? 5'000 : 2 * schedule_.lease_ms + 5'000),
        [this] { replace_master(); });
}

void World::replace_master() {
  auto found = judge_replay();
  if (!found) return;
  if (found->verdict) {
    over_ = true;
    return;
  }
  auto writer = new_segment();
  if (!writer) return later(kRetryMs, [this] { replace_master(); });
  master_ = std::make_unique<Master>(*this, std::move(found->gang), std::move(writer));
  say(base::format("master {} goes on", masters()));
  if (master_is_dying_) return;
  if (found->finish) return master_->end(*found->finish);
  master_->resume();
  if (!master_is_dying_) adopt();
}

}  // namespace gangrun::simulation
