#include "simulation/world.h"

#include <algorithm>

#include "base/format.h"

namespace gangrun::simulation {

using base::format;
using std::chrono::milliseconds;

namespace {

// After the end of the job: late and duplicate messages that must change nothing.
constexpr int kStepsAfterFinish = 60;
constexpr std::int64_t kMaxPlacingMs = 700'000;
constexpr int kHosts = 8;

}  // namespace

World::World(Schedule schedule, Random random, bool verbose)
    : schedule_(std::move(schedule)),
      random_(random),
      verbose_(verbose),
      gang_(schedule_.spec, schedule_.limits),
      now_(base::Duration(random_.between(0, 1'000'000'000'000))),
      origin_(now_) {
  const std::size_t tasks = gang_.tasks().size();
  for (std::size_t i = 0; i < tasks; ++i) task_index_[gang_.tasks()[i].id] = i;
  newest_.resize(tasks);
  last_exit_ok_.resize(tasks);
  running_of_task_.resize(tasks);
}

std::vector<std::string> World::run() {
  plan_trouble();
  const bool begins = !random_.chance(5);
  if (begins) later(0, [this] { handle(gang::Begin{}); });
  if (!begins) later(0, [this] { handle(gang::StopRequested{"nobody", false}); });
  while (!gang_.finished() && violations_.empty()) {
    if (!advance()) break;
  }
  judge_end();
  for (int i = 0; i < kStepsAfterFinish && !pending_.empty() && violations_.empty(); ++i) advance();
  if (violations_.empty()) judge_replay(schedule_.seed % 16 == 0);
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

// To the next thing that happens in the world or that the gang waits for.
bool World::advance() {
  const auto deadline = gang_.next_deadline();
  if (!deadline && pending_.empty()) {
    violated("P7: nothing is under way and no deadline is set");
    return false;
  }
  if (deadline && (pending_.empty() || *deadline < pending_.top().at)) {
    now_ =
        std::max(now_, *deadline) + milliseconds(random_.chance(500) ? 0 : random_.between(0, 50));
    handle(gang::TimePassed{});
    return true;
  }
  now_ = std::max(now_, pending_.top().at);
  const auto action = pending_.top().action;
  pending_.pop();
  action();
  return true;
}

void World::handle(const gang::Event& event) {
  if (random_.chance(schedule_.mischief.replay)) replace_master();
  records_.push_back({event, now_});
  const std::vector<gang::Decision> decisions = gang_.step(event, now_);
  if (verbose_) say(format("<- {}", base::dump_json(gang::to_json(event, origin_))));
  judge_step(event, decisions);
  decisions_.insert(decisions_.end(), decisions.begin(), decisions.end());
  for (const gang::Decision& decision : decisions) {
    if (verbose_) say(format("   -> {}", describe(decision)));
    std::visit([this](const auto& d) { obey(d); }, decision);
  }
  maybe_again(event);
}

// What comes over a wire may come twice, much later too. What the master itself notices does not.
void World::maybe_again(const gang::Event& event) {
  const bool over_a_wire = std::holds_alternative<gang::Allocated>(event) ||
                           std::holds_alternative<gang::Reported>(event) ||
                           std::holds_alternative<gang::Started>(event) ||
                           std::holds_alternative<gang::Exited>(event) ||
                           std::holds_alternative<gang::AgentEnded>(event) ||
                           std::holds_alternative<gang::Progress>(event);
  if (!over_a_wire || !random_.chance(schedule_.mischief.duplicate)) return;
  const bool soon = random_.chance(700);
  later(random_.between(0, soon ? 50 : 100'000), [this, event] { handle(event); });
}

// P5: a new master goes on from the journal as if nothing had happened.
void World::replace_master() {
  gang::Gang successor(schedule_.spec, schedule_.limits);
  for (const Record& record : records_) successor.step(record.event, record.at);
  if (!(successor == gang_)) violated("P5: the replayed gang differs");
  gang_ = successor;
}

void World::plan_trouble() {
  const Mischief& bad = schedule_.mischief;
  if (random_.chance(bad.stop_request)) {
    std::int64_t when = random_.between(0, 2 * schedule_.longest_run_ms + 10'000);
    for (std::int64_t times = random_.between(1, 3); times > 0; --times) {
      const bool at_once = random_.chance(200);
      later(when, [this, at_once] { handle(gang::StopRequested{"Ctrl-C", at_once}); });
      when += random_.between(0, 20'000);
    }
  }
  if (random_.chance(bad.cluster_gone)) {
    later(random_.between(0, 400'000),
          [this] { handle(gang::ClusterGone{"the cluster has gone away"}); });
  }
  if (random_.chance(200)) {
    later(random_.between(0, 5'000), [this] { handle(gang::ClusterWaiting{"the queue is full"}); });
  }
  if (random_.chance(200))
    later(random_.between(0, 50'000), [this] { handle(gang::TimePassed{}); });
}

Agent* World::find(const job::TaskId& task, int asked) {
  const auto found = std::find_if(agents_.rbegin(), agents_.rend(), [&](const Agent& agent) {
    return agent.asked == asked && agent.task == task;
  });
  return found == agents_.rend() ? nullptr : &*found;
}

void World::obey(const gang::Allocate& decision) {
  Agent agent;
  agent.task = decision.task;
  agent.index = task_index_.at(decision.task);
  agent.asked = decision.attempt;
  agent.hung = random_.chance(schedule_.mischief.hung);
  agent.unkillable = agent.hung && random_.chance(schedule_.mischief.unkillable);
  const std::size_t number = agents_.size();
  newest_[agent.index] = number;
  agents_.push_back(std::move(agent));
  const bool slow = random_.chance(schedule_.mischief.slow_place);
  later(random_.between(1, slow ? kMaxPlacingMs : 2'000),
        [this, number, decision] { placed(number, decision); });
}

void World::placed(std::size_t number, const gang::Allocate& asked) {
  Agent& agent = agents_[number];
  if (agent.life != Agent::Life::kPlacing) return;
  agent.life = Agent::Life::kAlive;
  if (asked.wanted && random_.chance(schedule_.mischief.same_port)) {
    agent.address = *asked.wanted;
  } else {
    std::string host = format("host{}", random_.between(1, kHosts));
    // As a cluster does that has room elsewhere.
    const auto& avoided = asked.avoided;
    if (std::find(avoided.begin(), avoided.end(), host) != avoided.end()) {
      host = format("host{}", random_.between(1, kHosts));
    }
    agent.address = {host, static_cast<std::uint16_t>(next_port_)};
    next_port_ = next_port_ == 65'535 ? 1024 : next_port_ + 1;
  }
  const gang::Allocated event{agent.task, agent.asked, agent.address.host};
  // The agent's own news may outrun the cluster's.
  later(random_.between(0, 30), [this, event] { handle(event); });
  later(random_.between(1, 30), [this, number] { wake(number); });
}

void World::obey(const gang::Publish& decision) { judge_publish(decision.spec); }

void World::obey(const gang::Start& decision) {
  judge_start(decision);
  const std::size_t number = *newest_[task_index_.at(decision.task)];
  const int attempt = decision.attempt;
  const int generation = decision.generation;
  command(number, [=, this] { begin_run(number, attempt, generation); });
}

void World::obey(const gang::Stop& decision) {
  const std::size_t number = *newest_[task_index_.at(decision.task)];
  const int attempt = decision.attempt;
  const std::int64_t grace = decision.grace.count();
  command(number, [=, this] { stop_run(number, attempt, grace); });
}

void World::obey(const gang::End& decision) {
  Agent* agent = find(decision.task, decision.attempt);
  if (agent == nullptr) return violated(format("End for an agent that was not asked for"));
  const auto number = static_cast<std::size_t>(agent - agents_.data());
  const std::int64_t grace = decision.grace.count();
  if (agent->connected) return command(number, [=, this] { end_agent(number, grace); });
  // No session: the cluster ends it, by force at the latest after the grace.
  later(latency(), [=, this] {
    if (agents_[number].reachable) end_agent(number, grace);
  });
  later(grace + latency(), [=, this] {
    const Agent& late = agents_[number];
    if (late.reachable && !late.unkillable) die(number, "was ended by the cluster", true);
  });
}

void World::obey(const gang::Kill& decision) {
  Agent* agent = find(decision.task, decision.attempt);
  if (agent == nullptr) return violated(format("Kill for an agent that was not asked for"));
  const auto number = static_cast<std::size_t>(agent - agents_.data());
  later(latency(), [=, this] {
    const Agent& victim = agents_[number];
    if (victim.reachable && !victim.unkillable) die(number, "its agent was killed", true);
  });
}

void World::obey(const gang::Warn& decision) {
  const std::size_t end = decision.sentence.find(" could not be seen to end");
  if (end != std::string::npos) warned_of_.insert(decision.sentence.substr(0, end));
  restarted_ |= decision.sentence.find("restart") != std::string::npos;
}

void World::obey(const gang::Finish& decision) { judge_finish(decision); }

}  // namespace gangrun::simulation
