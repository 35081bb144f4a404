#include "simulation/agent.h"

#include <algorithm>

#include "simulation/world.h"

namespace gangrun::simulation {

namespace {

// An observer that always made progress would be awaited forever.
constexpr int kMaxProgress = 20;
constexpr std::int64_t kMaxStopMs = 2'000;
// From the end of a task to the failures of those that need it.
constexpr std::int64_t kMaxWantMs = 5'000;
// From the end of the lease to the end of the user's process: less than the gang allows for it.
constexpr std::int64_t kMaxKillMs = 4'000;

}  // namespace

Agent::Agent(World& world, std::size_t its_number, const job::TaskId& its_task, int attempt)
    : task(its_task),
      number(its_number),
      index(world.index_of(its_task)),
      asked(attempt),
      world_(world) {}

void Agent::wake(const job::Address& at) {
  life = Life::kAlive;
  address = at;
  wire::AgentSessionCallbacks callbacks;
  callbacks.on_start = [this](const wire::StartMessage& message) { on_start(message); };
  callbacks.on_stop = [this](std::chrono::milliseconds grace) {
    if (!hung) stop(grace.count());
  };
  callbacks.on_end = [this](std::chrono::milliseconds grace) {
    if (!hung) end(grace.count());
  };
  callbacks.on_heartbeat = [this] {
    wire::HeartbeatMessage message;
    message.progress = running && progress_left_ > 0 && world_.random().chance(500);
    if (message.progress) --progress_left_;
    return message;
  };
  callbacks.on_outdated_spec = [] {};
  callbacks.on_lost = callbacks.on_refused = [this](const std::string&) { over(); };
  side = std::make_unique<wire::AgentSide>(
      wire::AgentIdentity{task, asked, address, static_cast<std::int64_t>(number) + 1},
      std::move(callbacks), *this);
  side->open(world_.now());
  arm();
}

void Agent::arm() {
  const auto next = side->next_deadline();
  if (next == timer_at_) return;
  timer_at_ = next;
  if (!next) return;
  world_.later_at(*next, [this, at = *next] {
    if (timer_at_ != at || life != Life::kAlive) return;
    timer_at_.reset();
    side->on_time(world_.now());
    arm();
  });
}

void Agent::connect() { world_.connect(number); }
void Agent::disconnect() { world_.disconnect(number); }
void Agent::send(std::string frame) { world_.send_to_master(number, std::move(frame)); }

// Refused, or the lease is over.
void Agent::over() {
  has_session_ = false;
  ending_ = true;
  const bool at_once = world_.schedule().lease_ms == 0;
  world_.later(world_.random().between(0, at_once ? kMaxKillMs / 2 : kMaxKillMs),
               [this] { die({.reason = job::Reason::kLostNode}); });
}

void Agent::on_start(const wire::StartMessage& message) {
  if (ending_ || running) return;
  ++run_;
  const Mischief& bad = world_.schedule().mischief;
  disobedient_ = world_.random().chance(bad.disobedient);
  if (world_.strikes(bad.could_not_start)) {
    job::ExitReport report;
    report.why.reason = job::Reason::kCouldNotStart;
    report.why.code = 127;
    report.why.detail = "no such file";
    world_.judge_exit(*this, false);
    return side->exited(std::move(report), world_.now(), world_.now());
  }
  running = true;
  progress_left_ = kMaxProgress;
  world_.judge_process(*this, message.cluster_spec);
  side->started(run_);
  run_begins();
}

void Agent::run_begins() {
  Random& random = world_.random();
  const Schedule& schedule = world_.schedule();
  job::ExitReport report;
  report.why.reason = job::Reason::kExitStatus;
  report.why.code = 1;
  if (world_.strikes(schedule.mischief.port_lost)) {
    return world_.later(random.between(0, 2'000),
                        [this, run = run_, report] { run_ended(run, report, true); });
  }
  const bool needed = schedule.spec.success == "all"
                          ? world_.policy_of(index) == job::Policy::kTracked
                          : task.type == schedule.spec.success;
  const bool fails = world_.strikes(schedule.mischief.failing);
  // A task that nobody waits for may run until it is stopped.
  if (!needed && !fails && random.chance(800)) return;
  if (!fails) {
    report = {};
    report.success = true;
  }
  world_.later(random.between(0, schedule.longest_run_ms),
               [this, run = run_, report] { run_ended(run, report, false); });
}

void Agent::stop(std::int64_t grace_ms) {
  if (!running) return;
  const std::int64_t needs = world_.random().between(0, kMaxStopMs);
  job::ExitReport report;
  report.why.signal = 15;
  report.why.reason = job::Reason::kSignal;
  report.success = world_.random().chance(100);
  world_.later(disobedient_ ? grace_ms : std::min(grace_ms, needs),
               [this, run = run_, report] { run_ended(run, report, false); });
}

void Agent::run_ended(int run, job::ExitReport report, bool port_lost) {
  if (life != Life::kAlive || !running || run != run_) return;
  running = false;
  world_.judge_process_gone(*this);
  world_.judge_exit(*this, report.success);
  if (port_lost && !ending_) {
    report.why.reason = job::Reason::kPortLost;
    report.port_lost = true;
    side->port_lost();
    side->exited(std::move(report), world_.now(), world_.now());
    address.port = static_cast<std::uint16_t>(address.port == 65'535 ? 1024 : address.port + 1);
    side->set_address(address);
  } else if (has_session_) {
    side->exited(std::move(report), world_.now(), world_.now());
  }
  arm();
  if (ending_) leave();
}

void Agent::fail_for_want() {
  job::ExitReport report;
  report.why.reason = job::Reason::kExitStatus;
  report.why.code = 1;
  world_.later(world_.random().between(0, kMaxWantMs),
               [this, run = run_, report] { run_ended(run, report, false); });
}

void Agent::end(std::int64_t grace_ms) {
  ending_ = true;
  if (running) return stop(grace_ms);
  leave();
}

void Agent::leave() {
  if (has_session_) side->finish(world_.now());
  has_session_ = false;
  world_.later(world_.random().between(0, 100),
               [this] { die({.reason = job::Reason::kAgentEnded}); });
}

void Agent::die(job::Why why) {
  if (life == Life::kDead) return;
  const bool was_alive = life == Life::kAlive;
  life = Life::kDead;
  ended = std::move(why);
  ended_at = world_.now();
  if (running) world_.judge_process_gone(*this);
  running = false;
  if (was_alive) world_.disconnect(number);
  world_.agent_is_dead(number);
}

}  // namespace gangrun::simulation
