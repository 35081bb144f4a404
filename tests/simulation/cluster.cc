#include <algorithm>

#include "base/format.h"
#include "simulation/world.h"

// A place that starts agents, late, badly or not at all.
namespace gangrun::simulation {

namespace {

constexpr int kHosts = 8;
constexpr std::int64_t kMaxPlacingMs = 700'000;
// So many fail for want of one task: the gang has answered long before the others would.
constexpr int kMostBroken = 20;

}  // namespace

std::optional<std::size_t> World::find(const job::TaskId& task, int asked) {
  const auto found = newest_agent_.find({index_of(task), asked});
  return found == newest_agent_.end() ? std::nullopt : std::optional(found->second);
}

job::Address World::new_address(const std::vector<std::string>& avoided) {
  std::string host = base::format("host{}", random_.between(1, kHosts));
  // As a cluster does that has room elsewhere.
  if (std::find(avoided.begin(), avoided.end(), host) != avoided.end()) {
    host = base::format("host{}", random_.between(1, kHosts));
  }
  job::Address address{host, static_cast<std::uint16_t>(next_port_)};
  next_port_ = next_port_ >= 60'000 ? 1024 : next_port_ + 5;
  return address;
}

void World::start_agent(const gang::Allocate& decision) {
  const std::size_t number = agents_.size();
  Agent& agent = agents_.emplace_back(*this, number, decision.task, decision.attempt);
  newest_agent_[{agent.index, agent.asked}] = number;
  agent.hung = strikes(schedule_.mischief.hung);
  agent.unkillable = agent.hung && random_.chance(schedule_.mischief.unkillable);
  const bool slow = strikes(schedule_.mischief.slow_place);
  later(random_.between(1, slow ? kMaxPlacingMs : 2'000),
        [this, number, decision] { placed(number, decision); });
}

void World::placed(std::size_t number, const gang::Allocate& asked) {
  Agent& agent = agents_[number];
  if (agent.life != Agent::Life::kPlacing) return;
  if (!agent.known && random_.chance(500)) {
    agent.life = Agent::Life::kDead;  // the dead master's wish was not heard any more
    return;
  }
  const bool same = asked.wanted && random_.chance(schedule_.mischief.same_port);
  const job::Address at = same ? *asked.wanted : new_address(asked.avoided);
  agent.life = Agent::Life::kAlive;
  if (agent.known) {
    tell_cluster_event(number, gang::Allocated{agent.task, agent.asked, at.host});
  }
  plan_trouble_of(number);
  if (strikes(schedule_.mischief.no_report)) {
    // It never starts; its own limit ends it.
    return later(random_.between(0, 60'000), [this, number] {
      agents_[number].die({.reason = job::Reason::kAgentEnded, .code = 1});
    });
  }
  later(random_.between(1, 30), [this, number, at] {
    if (agents_[number].life == Agent::Life::kAlive) agents_[number].wake(at);
  });
}

void World::plan_trouble_of(std::size_t number) {
  const Agent& agent = agents_[number];
  const Mischief& bad = schedule_.mischief;
  if (strikes(bad.agent_death)) {
    const bool is_evicted = random_.chance(bad.evicted);
    later(random_.between(0, 60'000), [=, this] {
      if (is_evicted) return evict(number);
      agents_[number].die({.reason = job::Reason::kAgentEnded, .signal = 11});
    });
  }
  if (agent.unkillable) return;
  if (strikes(bad.session_break)) {
    for (std::int64_t breaks = random_.between(1, 3); breaks > 0; --breaks) {
      later(random_.between(0, 100'000), [this, number] { break_connection(number); });
    }
  }
  if (schedule_.lease_ms > 0 && strikes(bad.partition)) {
    const bool for_good = random_.chance(bad.host_lost);
    const std::int64_t ms = for_good ? -1 : random_.between(0, 2 * schedule_.lease_ms);
    later(random_.between(0, 100'000), [=, this] { cut_link(number, ms); });
  }
}

// Others may fail for want of its task then.
void World::evict(std::size_t number) {
  Agent& agent = agents_[number];
  const bool is_missed = agent.running && policies_[agent.index] == job::Policy::kTracked;
  agent.die({.reason = job::Reason::kEvicted});
  if (!is_missed) return;
  int broken = 0;
  for (Agent& other : agents_) {
    const bool needs_it = other.running && policies_[other.index] != job::Policy::kSidecar;
    if (!needs_it || !random_.chance(schedule_.mischief.broken)) continue;
    other.fail_for_want();
    if (++broken == kMostBroken) return;
  }
}

// News of the cluster come late, and perhaps twice.
void World::tell_cluster_event(std::size_t number, const gang::Event& event) {
  const bool lost_link = agents_[number].link_down_until && *agents_[number].link_down_until > now_;
  const bool slow = lost_link || random_.chance(100);
  const int times = random_.chance(schedule_.mischief.duplicate) ? 2 : 1;
  for (int i = 0; i < times; ++i) {
    later(random_.between(0, slow ? 200'000 : 200), [this, event] {
      if (master_ && !master_is_dying_) master_->handle(event);
    });
  }
}

void World::agent_is_dead(std::size_t number) {
  const Agent& agent = agents_[number];
  if (verbose_)
    say(base::format("{} #{} {}", job::to_string(agent.task), agent.asked, to_words(agent.ended)));
  if (!agent.known) return;
  tell_cluster_event(number, job::AgentEnded{agent.task, agent.asked, agent.ended, agent.ended_at});
}

void World::stop_agent(const job::TaskId& task, int attempt, std::int64_t grace_ms) {
  const auto number = find(task, attempt);
  if (!number || !agents_[*number].known) return;
  const auto is_reachable = [this, id = *number] {
    const Agent& agent = agents_[id];
    return !agent.link_down_until || *agent.link_down_until <= now_;
  };
  if (agents_[*number].life == Agent::Life::kPlacing) return agents_[*number].die(job::not_begun());
  if (grace_ms > 0) {
    later(latency(), [=, this, id = *number] {
      Agent& agent = agents_[id];
      if (is_reachable() && agent.life == Agent::Life::kAlive && agent.side && !agent.hung) {
        agent.end(schedule_.spec.timeouts.stop.count());
      }
    });
  }
  later(grace_ms + latency(), [=, this, id = *number] {
    Agent& agent = agents_[id];
    if (is_reachable() && !agent.unkillable)
      agent.die({.reason = job::Reason::kAgentEnded, .signal = 9});
  });
}

// The cluster of a new master knows the agents whose start was recorded, and tells of those that
// have ended meanwhile.
void World::adopt() {
  for (std::size_t i = 0; i < agents_.size(); ++i) {
    const Agent& agent = agents_[i];
    if (!agent.known || agent.life != Agent::Life::kDead) continue;
    const gang::Task& task = *master_->gang().find(agent.task);
    if (task.phase == gang::Phase::kGone || task.allocated_attempt != agent.asked) continue;
    tell_cluster_event(i, job::AgentEnded{agent.task, agent.asked, agent.ended, agent.ended_at});
  }
}

}  // namespace gangrun::simulation
