#include <algorithm>

#include "base/format.h"
#include "simulation/world.h"

// What agents and users' processes do.
namespace gangrun::simulation {

using base::format;
using std::chrono::milliseconds;

namespace {

constexpr std::int64_t kMaxStopMs = 2'000;
constexpr int kMaxProgress = 20;

job::ExitReport failure(const std::string& sentence) {
  job::ExitReport report;
  report.code = 1;
  report.sentence = sentence;
  return report;
}

}  // namespace

// How the master knows the agent now: by the run that the gang counts.
int World::known_attempt(const Agent& agent) const {
  const gang::Task& task = gang_.tasks()[agent.index];
  return task.allocated_attempt == agent.asked ? task.attempt : agent.asked;
}

void World::wake(std::size_t number) {
  Agent& agent = agents_[number];
  if (agent.life != Agent::Life::kAlive) return;
  const Mischief& bad = schedule_.mischief;
  if (random_.chance(bad.agent_death)) {
    later(random_.between(0, 60'000), [this, number] { die(number, "its agent crashed", true); });
  }
  if (random_.chance(bad.session_break) && !agent.unkillable) {
    for (std::int64_t breaks = random_.between(1, 3); breaks > 0; --breaks) {
      const bool comes_back = random_.chance(700);
      later(random_.between(0, 100'000), [=, this] { break_session(number, comes_back); });
    }
  }
  if (random_.chance(bad.no_report)) return;
  agent.connected = true;
  report_place(number);
}

void World::report_place(std::size_t number) {
  const Agent& agent = agents_[number];
  if (agent.life != Agent::Life::kAlive) return;
  send(number, gang::Reported{agent.task, agent.run == 0 ? agent.asked : agent.run, agent.address});
}

void World::send(std::size_t number, gang::Event event) {
  Agent& agent = agents_[number];
  agent.outbox.push_back(std::move(event));
  if (agent.connected) transmit(number);
}

// One message of the outbox on its way, in order.
void World::transmit(std::size_t number) {
  Agent& agent = agents_[number];
  const int session = agent.session;
  agent.last_arrival = std::max(agent.last_arrival, now_ + milliseconds(latency()));
  later_at(agent.last_arrival, [=, this] {
    Agent& sender = agents_[number];
    if (sender.session != session || sender.outbox.empty()) return;
    const gang::Event event = sender.outbox.front();
    sender.outbox.pop_front();
    handle(event);
  });
}

// What the master wants of an agent arrives in order, as long as the session lives.
void World::command(std::size_t number, std::function<void()> action) {
  Agent& agent = agents_[number];
  if (!agent.connected) return;
  const int session = agent.session;
  agent.last_departure = std::max(agent.last_departure, now_ + milliseconds(latency()));
  later_at(agent.last_departure, [=, this] {
    const Agent& receiver = agents_[number];
    if (receiver.session != session || receiver.hung) return;
    if (receiver.life == Agent::Life::kAlive) action();
  });
}

void World::begin_run(std::size_t number, int attempt, int generation) {
  Agent& agent = agents_[number];
  if (attempt <= agent.run || agent.ending || agent.running) return;
  agent.run = attempt;
  agent.generation = generation;
  agent.disobedient = random_.chance(schedule_.mischief.disobedient);
  if (random_.chance(schedule_.mischief.could_not_start)) {
    job::ExitReport report = failure("could not be started: no such file");
    report.could_not_start = true;
    return send(number, gang::Exited{agent.task, attempt, report, now_});
  }
  agent.running = true;
  judge_process(agent);
  ++running_of_task_[agent.index];
  if (policy_of(agent) != job::Policy::kSidecar) ++running_of_generation_[generation];
  later(random_.between(0, 50), [=, this] { process_started(number, attempt); });
}

void World::process_started(std::size_t number, int attempt) {
  Agent& agent = agents_[number];
  if (!agent.running || agent.run != attempt) return;
  send(number, gang::Started{agent.task, attempt});
  const job::Policy policy = policy_of(agent);
  if (policy == job::Policy::kObserver) observe(number, attempt, kMaxProgress);
  if (random_.chance(schedule_.mischief.port_lost)) {
    job::ExitReport report = failure("lost its port");
    report.port_lost = true;
    later(random_.between(0, 2'000), [=, this] { process_ended(number, attempt, report); });
    return;
  }
  const bool needed = schedule_.spec.success == "all" ? policy == job::Policy::kTracked
                                                      : agent.task.type == schedule_.spec.success;
  const bool fails = random_.chance(schedule_.mischief.failing);
  // Who is not waited for may run until it is stopped.
  if (!needed && !fails && random_.chance(800)) return;
  job::ExitReport report = failure("exited with status 1");
  if (!fails) {
    report = {};
    report.success = true;
    report.sentence = "exited with status 0";
  }
  later(random_.between(0, schedule_.longest_run_ms),
        [=, this] { process_ended(number, attempt, report); });
}

void World::observe(std::size_t number, int attempt, int times) {
  if (times == 0) return;
  later(random_.between(1, 60'000), [=, this] {
    const Agent& agent = agents_[number];
    if (!agent.running || agent.run != attempt) return;
    send(number, gang::Progress{agent.task, attempt});
    observe(number, attempt, times - 1);
  });
}

void World::forget_process(Agent& agent) {
  if (!agent.running) return;
  agent.running = false;
  --running_of_task_[agent.index];
  if (policy_of(agent) != job::Policy::kSidecar) --running_of_generation_[agent.generation];
}

void World::process_ended(std::size_t number, int attempt, job::ExitReport report) {
  Agent& agent = agents_[number];
  if (agent.life != Agent::Life::kAlive || !agent.running || agent.run != attempt) return;
  forget_process(agent);
  last_exit_ok_[agent.index] = report.success;
  const bool new_port = report.port_lost;
  send(number, gang::Exited{agent.task, attempt, std::move(report), now_});
  if (agent.ending) return die(number, "its agent ended", true);
  if (!new_port) return;
  agent.address.port = static_cast<std::uint16_t>(next_port_);
  next_port_ = next_port_ == 65'535 ? 1024 : next_port_ + 1;
  later(random_.between(0, 100), [=, this] {
    if (!agents_[number].ending) report_place(number);
  });
}

void World::stop_run(std::size_t number, int attempt, std::int64_t grace_ms) {
  Agent& agent = agents_[number];
  if (attempt > agent.run) {
    // Its start was lost on the way: the run is over before it began.
    agent.run = attempt;
    return send(number, gang::Exited{agent.task, attempt, failure("was not started"), now_});
  }
  if (attempt < agent.run || !agent.running) return;
  const std::int64_t needs = random_.between(0, kMaxStopMs);
  job::ExitReport report = failure("was killed by signal 15");
  report.success = random_.chance(100);
  later(agent.disobedient ? grace_ms : std::min(grace_ms, needs),
        [=, this] { process_ended(number, attempt, report); });
}

void World::end_agent(std::size_t number, std::int64_t grace_ms) {
  Agent& agent = agents_[number];
  if (agent.life == Agent::Life::kPlacing) return die(number, "was cancelled", true);
  if (agent.life == Agent::Life::kDead || agent.hung) return;
  agent.ending = true;
  if (!agent.running) {
    later(random_.between(0, 50), [=, this] { die(number, "its agent ended", true); });
    return;
  }
  stop_run(number, agent.run, grace_ms);
}

// The agent and all that it started are gone; who notices what first is left to chance.
void World::die(std::size_t number, const std::string& sentence, bool counts) {
  Agent& agent = agents_[number];
  if (agent.life == Agent::Life::kDead) return;
  agent.life = Agent::Life::kDead;
  forget_process(agent);
  const bool had_session = agent.connected;
  const gang::AgentEnded event{agent.task, agent.asked, sentence, now_, counts, false};
  const bool slow = !agent.reachable || random_.chance(100);
  later(random_.between(0, slow ? 200'000 : 200), [this, event] { handle(event); });
  if (!had_session) return;
  // What it had sent before still arrives, most of the time.
  agent.connected = false;
  if (random_.chance(200)) ++agent.session;
  later(random_.between(0, 200), [this, number] {
    const Agent& gone = agents_[number];
    handle(gang::SessionLost{gone.task, known_attempt(gone)});
  });
}

void World::break_session(std::size_t number, bool comes_back) {
  Agent& agent = agents_[number];
  if (agent.life != Agent::Life::kAlive || !agent.connected) return;
  agent.connected = false;
  const int session = ++agent.session;
  if (!comes_back && random_.chance(schedule_.mischief.host_lost)) agent.reachable = false;
  later(random_.between(0, 20'000), [=, this] {
    const Agent& quiet = agents_[number];
    if (quiet.session == session) {
      handle(gang::SessionLost{quiet.task, known_attempt(quiet)});
    }
  });
  later(kLeaseMs + random_.between(0, kMaxNoticeMs), [=, this] {
    if (agents_[number].session == session) die(number, "its lease ended", false);
  });
  if (comes_back) {
    later(random_.between(0, kLeaseMs - 1), [=, this] { reconnect(number, session); });
  }
}

void World::reconnect(std::size_t number, int session) {
  Agent& agent = agents_[number];
  if (agent.life != Agent::Life::kAlive || agent.session != session) return;
  ++agent.session;
  agent.connected = true;
  const int current = agent.session;
  agent.last_departure = now_;
  agent.last_arrival = std::max(agent.last_arrival, now_ + milliseconds(latency()));
  later_at(agent.last_arrival, [=, this] {
    const Agent& back = agents_[number];
    if (back.session == current) handle(gang::Reattached{back.task, known_attempt(back)});
  });
  for (std::size_t i = 0; i < agent.outbox.size(); ++i) transmit(number);
}

}  // namespace gangrun::simulation
