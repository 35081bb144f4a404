#include <algorithm>
#include <cstdio>
#include <utility>

#include "base/clock.h"
#include "base/format.h"
#include "base/overloaded.h"
#include "simulation/world.h"

// The rules that must always hold.
namespace gangrun::simulation {

using base::format;

namespace {

// The gang remembers no more failures.
constexpr int kMostFailures = 256;

// Anything that is given out must be known to whoever goes on.
bool gives_out(const gang::Decision& decision) {
  return std::visit(
      base::Overloaded{
          [](const gang::Allocate&) { return true; }, [](const gang::Publish&) { return true; },
          [](const gang::Start&) { return true; }, [](const gang::Stop&) { return false; },
          [](const gang::End&) { return false; }, [](const gang::Kill&) { return false; },
          [](const gang::Warn&) { return false; }, [](const gang::Finish&) { return false; }},
      decision);
}

// Whether tasks are started again for it.
bool tells_of_restart(const gang::Warning& warning) {
  return std::visit(
      base::Overloaded{
          [](const gang::TaskFailed& w) {
            return w.then == gang::TaskFailed::Then::kRestart ||
                   w.then == gang::TaskFailed::Then::kRestartNotCounted ||
                   w.then == gang::TaskFailed::Then::kRestartForWant ||
                   w.then == gang::TaskFailed::Then::kWithoutItNoRestartLeft;
          },
          [](const gang::CameBackElsewhere&) { return true; },
          [](const base::OneOf<gang::Replaced, gang::Resized, gang::HostAvoided, gang::NoProgress,
                               gang::EndNotConfirmed, gang::HostNotConfirmed> auto&) {
            return false;
          },
      },
      warning);
}

}  // namespace

std::string describe(const gang::Decision& decision) {
  return std::visit(
      []<typename T>(const T& d) -> std::string {
        if constexpr (std::is_same_v<T, gang::Allocate>) {
          return format("allocate {} attempt {}", job::to_string(d.task), d.attempt);
        } else if constexpr (std::is_same_v<T, gang::Publish>) {
          return format("publish {}", base::dump_json(job::to_json(d.spec)));
        } else if constexpr (std::is_same_v<T, gang::Start>) {
          return format("start {} attempt {} generation {}", job::to_string(d.task), d.attempt,
                        d.generation);
        } else if constexpr (std::is_same_v<T, gang::Stop> || std::is_same_v<T, gang::End>) {
          return format("{} {} attempt {} grace {} ms",
                        std::is_same_v<T, gang::Stop> ? "stop" : "end", job::to_string(d.task),
                        d.attempt, d.grace.count());
        } else if constexpr (std::is_same_v<T, gang::Kill>) {
          return format("kill {} attempt {}", job::to_string(d.task), d.attempt);
        } else if constexpr (std::is_same_v<T, gang::Warn>) {
          return format("warn: {}", gang::to_words(d.warning));
        } else {
          return format("finish: {} ({})", job::to_string(d.state),
                        d.cause ? to_words(*d.cause) : "no cause");
        }
      },
      decision);
}

void World::violated(const std::string& what) {
  say(format("VIOLATED: {}", what));
  violations_.push_back(format("at {}: {}", base::to_words(now_ - origin_), what));
}

void World::say(const std::string& text) const {
  if (!verbose_) return;
  const std::chrono::duration<double> since = now_ - origin_;
  std::fputs(format("{:12.6f} {}\n", since.count(), text).c_str(), stdout);
}

// Whether its session has been in order for longer than messages are under way.
bool World::has_settled(const Agent& agent) const {
  if (agent.life != Agent::Life::kAlive || !agent.connection || !agent.side) return false;
  const Connection& connection = connections_[*agent.connection];
  if (connection.broken || !connection.master_open || connection.master != masters()) return false;
  return agent.side->is_attached() &&
         now_ - connection.opened > std::chrono::milliseconds(5 * kMaxLatencyMs);
}

// A line has reached the disk.
void World::follow(std::string_view line) {
  const int number = disk_.back().whole - 1;
  if (number == 0) {
    const auto header = journal::parse_header(line);
    if (!header.ok()) return violated(format("P5: {}", header.error().message));
    static_cast<void>(follower_.segment(masters(), *header, now_, wall_time(now_)));
    return;
  }
  const auto record = journal::parse_record(line, number);
  if (!record.ok()) return violated(format("P5: {}", record.error().message));
  auto decisions = follower_.record(*record, now_);
  std::visit(
      base::Overloaded{
          [&](const journal::EventRecord&) { followers_choice_ = std::move(decisions); },
          // Nothing is decided of them.
          [](const base::OneOf<journal::SpecRecord, journal::PlaceRecord, journal::GenerationRecord,
                               journal::StatusRecord, journal::VerdictRecord> auto&) {},
      },
      *record);
}

// P5 after every step: whoever has read the journal so far has the same gang and would decide the
// same. Of a large gang the whole state is compared now and then.
void World::judge_follower(const std::vector<gang::Decision>& decisions) {
  if (master_->recorded().is_incomplete()) return;  // what gives out nothing
  if (!(followers_choice_ == decisions)) violated("P5: a replay decides something else");
  const bool all = schedule_.tasks <= kManyTasks || ++steps_ % schedule_.tasks == 0;
  if (all && !(follower_.replayed().gang == master_->gang())) {
    violated("P5: the gang of a replay differs");
  }
}

// P7: that it waits for its disk.
void World::judge_wait() {
  if (!master_->recorded().is_behind()) return behind_since_.reset();
  if (!behind_since_) behind_since_ = now_;
  if (now_ - *behind_since_ > journal::kRoomTimeout + std::chrono::seconds(5)) {
    violated("P7: waits for its disk without end");
  }
  if (master_->recorded().waiting_for(now_).find("room for the journal") == std::string::npos) {
    violated("P7: does not say that it waits for its disk");
  }
}

// P7, and what follows from every step.
void World::judge_step(const gang::Event& event, const std::vector<gang::Decision>& decisions) {
  const gang::Gang& gang = master_->gang();
  judge_follower(decisions);
  const bool unknown = master_->recorded().is_incomplete();
  if (unknown && std::any_of(decisions.begin(), decisions.end(), gives_out)) {
    violated("P5: gives out what no next master knows");
  }
  if (over_ && !decisions.empty()) violated("P1: decided something after the end");
  stop_requested_ |= gang::asks_for_end(event);
  judge_blame(event, decisions);
  const job::JobState state = gang.state();
  if (!verdict_at_ && (state == job::JobState::kStopping || job::is_final(state))) {
    verdict_at_ = now_;
    for (Agent& agent : agents_) agent.attached_at_limit = has_settled(agent);
  }
  if (gang.finished() != job::is_final(state)) violated("finished() and state() differ");
  const auto deadline = gang.next_deadline();
  if (deadline && gang::is_time(event) && *deadline <= now_) {
    violated("P7: a deadline is left behind");
  }
  const bool waits = state == job::JobState::kAllocating || state == job::JobState::kRollCall ||
                     state == job::JobState::kRestarting || state == job::JobState::kStopping;
  if (!waits) return;
  if (!deadline) violated(format("P7: waits without a time limit ({})", job::to_string(state)));
  if (schedule_.tasks <= kManyTasks && gang.waiting_for(now_).empty()) {
    violated(format("P7: does not say what it waits for ({})", job::to_string(state)));
  }
}

// P1: who fails while another one is lost, through no fault of that one, is not blamed: no restart
// is used up and no job fails for it, whatever the scope.
void World::judge_blame(const gang::Event& event, const std::vector<gang::Decision>& decisions) {
  const gang::Gang& gang = master_->gang();
  const bool has_run = std::exchange(last_state_, gang.state()) == job::JobState::kRunning;
  const int restarts = gang.restarts_used() - std::exchange(last_restarts_, gang.restarts_used());
  // The last decisions of a dead master may not have happened for the next one.
  if (masters() > 1) return;
  std::visit(base::Overloaded{
                 [&](const job::Exited& exited) {
                   lacked_.erase(exited.task);
                   const job::ExitReport& report = exited.report;
                   const bool is_blamed = restarts > 0 || gang.state() == job::JobState::kStopping;
                   if (report.success || !job::may_lack_others(report.why.reason)) return;
                   if (lacked_.empty() || !has_run || !is_blamed) return;
                   violated(format("P1: {} is blamed, and lacked {}", job::to_string(exited.task),
                                   job::to_string(*lacked_.begin())));
                 },
                 [](const job::AgentEnded&) {},
                 [](const gang::TellsNoEnd auto&) {},
             },
             event);
  for (const gang::Decision& decision : decisions) {
    if (const auto* warning = std::get_if<gang::Warn>(&decision)) note_lack(warning->warning);
    if (std::holds_alternative<gang::Publish>(decision)) lacked_.clear();
  }
  std::erase_if(lacked_, [&](const job::TaskId& id) {
    const gang::Phase phase = gang.find(id)->phase;
    return phase != gang::Phase::kAsked && phase != gang::Phase::kAllocated &&
           phase != gang::Phase::kStarting;
  });
}

void World::note_lack(const gang::Warning& warning) {
  const auto* failed = std::get_if<gang::TaskFailed>(&warning);
  if (failed == nullptr || failed->then != gang::TaskFailed::Then::kRestartNotCounted) return;
  const job::TaskId& task = *failed->cause.task;
  const bool is_lacked = policies_[index_.at(task)] != job::Policy::kObserver;
  if (is_lacked && !job::is_own_fault(failed->cause.why.reason)) lacked_.insert(task);
}

// P3: complete, and counted by one.
void World::judge_publish(const job::ClusterSpec& spec) {
  if (spec.generation != published_ + 1) {
    violated("P3: generations are not counted by one");
  }
  published_ = spec.generation;
  published_spec_ = spec;
  std::size_t listed = 0;
  for (const auto& [type, addresses] : spec.tasks) listed += addresses.size();
  std::size_t members = 0;
  for (const gang::Task& task : master_->gang().tasks()) {
    if (task.policy == job::Policy::kSidecar) continue;
    if (spec.find(task.id) == nullptr && !task.member) continue;  // a spare, or absent
    ++members;
    const job::Address* address = spec.find(task.id);
    if (address == nullptr || address->port == 0) {
      violated(format("P3: {} is not in the cluster spec", job::to_string(task.id)));
    }
  }
  if (listed != members) violated("P3: the cluster spec lists more than the gang");
  judge_sizes(spec);
}

// No generation is smaller than its type may be, or larger than the job wants it.
void World::judge_sizes(const job::ClusterSpec& spec) {
  for (const job::TaskSpec& task : schedule_.spec.tasks) {
    if (job::effective_policy(schedule_.spec, task) == job::Policy::kSidecar) continue;
    const auto found = spec.tasks.find(task.type);
    const int count = found == spec.tasks.end() ? 0 : static_cast<int>(found->second.size());
    if (count >= task.needed() && count <= task.instances) continue;
    violated(format("generation {} has {} tasks of the type {}, which has {} to {}",
                    spec.generation, count, task.type, task.needed(), task.instances));
  }
}

// Never two of one name; P3: the others know it, and all see the same spec.
void World::judge_process(const Agent& agent, const job::ClusterSpec& spec) {
  if (verbose_) say(format("{} #{} runs", job::to_string(agent.task), agent.asked));
  if (++running_of_task_[agent.index] > 1) {
    violated(format("{} runs twice", job::to_string(agent.task)));
  }
  if (policies_[agent.index] == job::Policy::kSidecar) return;
  const job::Address* address = spec.find(agent.task);
  if (address == nullptr || !(*address == agent.address)) {
    violated(format("P3: {} starts at {}, where the others do not know it",
                    job::to_string(agent.task), job::to_string(agent.address)));
  }
  if (running_++ == 0) {
    running_spec_ = spec;
    running_specs_.clear();
  }
  if (running_specs_.contains(&spec)) return;
  if (spec == running_spec_) {
    if (schedule_.tasks > kManyTasks) running_specs_.insert(&spec);
  } else {
    violated(format("P3: {} starts in generation {} while tasks of {} run",
                    job::to_string(agent.task), spec.generation, running_spec_.generation));
  }
}

void World::judge_process_gone(const Agent& agent) {
  if (verbose_) say(format("{} #{} runs no more", job::to_string(agent.task), agent.asked));
  --running_of_task_[agent.index];
  if (policies_[agent.index] != job::Policy::kSidecar) --running_;
}

void World::judge_exit(const Agent& agent, bool success) { last_exit_ok_[agent.index] = success; }

void World::judge_warning(const gang::Warning& warning) {
  restarted_ |= tells_of_restart(warning);
  std::visit(base::Overloaded{
                 [this](const gang::EndNotConfirmed& w) { unconfirmed_.insert(w.task); },
                 [this](const gang::HostNotConfirmed& w) {
                   unconfirmed_.insert(w.tasks.begin(), w.tasks.end());
                 },
                 [](const base::OneOf<gang::TaskFailed, gang::Replaced, gang::Resized,
                                      gang::CameBackElsewhere, gang::HostAvoided,
                                      gang::NoProgress> auto&) {},
             },
             warning);
}

// P1. The master may have died before the verdict was recorded: then the next one says the same.
void World::judge_finish(const gang::Finish& finish) {
  if (over_) violated("P1: ended twice");
  if (recorded_finish_ && !(*recorded_finish_ == finish)) violated("P1: ended in two ways");
  if (!master_->recorded().is_incomplete()) recorded_finish_ = finish;
  if (!job::is_final(finish.state)) violated("P1: the end is not final");
  const bool succeeded = finish.state == job::JobState::kSucceeded;
  if (succeeded == finish.cause.has_value()) violated("P1: a cause exactly where it failed");
  if (finish.cause && to_words(*finish.cause).empty()) violated("P1: a cause without words");
  if (finish.state == job::JobState::kKilled && !stop_requested_) {
    violated("P1: killed by nobody");
  }
  for (const gang::Task& task : master_->gang().tasks()) {
    const bool needed = schedule_.spec.success == "all" ? task.policy == job::Policy::kTracked
                                                        : task.id.type == schedule_.spec.success;
    const bool member = published_spec_.find(task.id) != nullptr;
    if (succeeded && needed && member && !last_exit_ok_[index_.at(task.id)]) {
      violated(format("P1: succeeded although {} did not", job::to_string(task.id)));
    }
    const bool sidecar = task.policy == job::Policy::kSidecar;
    if (sidecar && finish.cause && finish.cause->task == task.id) {
      violated("P1: a sidecar is the cause");
    }
    const auto agent = find(task.id, task.allocated_attempt);
    const bool alive = agent && agents_[*agent].life == Agent::Life::kAlive;
    const bool is_told = task.outcome == gang::Outcome::kLost || unconfirmed_.contains(task.id);
    if (alive && agents_[*agent].known && !is_told) {
      violated(format("P2: {} is alive after the end", job::to_string(task.id)));
    }
  }
  judge_start_limit(finish);
  judge_first_cause(finish);
}

// P7: who can be reached is asked, also by a new master; a time limit is no way to notice.
void World::judge_start_limit(const gang::Finish& finish) {
  const bool is_limit = finish.cause && finish.cause->task &&
                        finish.cause->why.reason == job::Reason::kRollCallTimeout &&
                        finish.cause->why.detail == gang::kDidNotStart;
  if (!is_limit || !verdict_at_) return;
  const auto number =
      find(*finish.cause->task, master_->gang().find(*finish.cause->task)->allocated_attempt);
  if (!number) return;
  const Agent& agent = agents_[*number];
  if (agent.hung || agent.link_down_until || !agent.attached_at_limit) return;
  violated(format("P7: {} could have started", job::to_string(agent.task)));
}

// P1: of the failures before the verdict, however late they were heard of, the first is named.
void World::judge_first_cause(const gang::Finish& finish) {
  const bool has_observer = schedule_.spec.find("evaluator") != nullptr;
  if (finish.state != job::JobState::kFailed || restarted_ || has_observer) return;
  // Events between two masters are heard of late or never.
  if (masters() > 1) return;
  const auto is_flexible = [](const job::TaskSpec& t) { return t.slots() > t.needed(); };
  // A slot that ran nothing is no cause of anything.
  if (std::any_of(schedule_.spec.tasks.begin(), schedule_.spec.tasks.end(), is_flexible)) return;
  if (schedule_.tasks > kMostFailures || schedule_.spec.success != "all") return;
  std::set<job::TaskId> settled;
  std::map<base::Instant, std::set<job::TaskId>> failures;
  const auto settle = [&](const job::TaskId& id, bool failed, base::Instant at) {
    const gang::Task* task = master_->gang().find(id);
    if (task->policy == job::Policy::kSidecar || !settled.insert(id).second) return;
    if (failed && at < *verdict_at_) failures[at].insert(id);
  };
  for (const Record& record : records_) {
    std::visit(
        base::Overloaded{
            [&](const job::Exited& exited) {
              settle(exited.task, !exited.report.success, exited.ended_at);
            },
            [&](const job::AgentEnded& ended) { settle(ended.task, true, ended.ended_at); },
            // No task's end.
            [](const base::OneOf<gang::Begin, gang::ClusterWaiting, gang::Allocated, gang::Reported,
                                 gang::Started, gang::SessionLost, gang::Reattached, gang::Progress,
                                 gang::StopRequested, gang::ClusterGone, gang::TimePassed,
                                 gang::Resumed, gang::HostSilent> auto&) {},
        },
        record.event);
  }
  if (failures.empty()) return;
  if (!finish.cause->task || !failures.begin()->second.contains(*finish.cause->task)) {
    violated(format("P1: the first to fail was {}, the cause is: {}",
                    job::to_string(*failures.begin()->second.begin()), to_words(*finish.cause)));
  }
}

void World::judge_end() {
  if (!violations_.empty()) return;
  if (!over_) return violated("P1: the job has not ended");
  for (const Agent& agent : agents_) {
    if (agent.life != Agent::Life::kAlive || agent.unkillable) continue;
    violated(format("P2: {} attempt {} is left over", job::to_string(agent.task), agent.asked));
  }
}

base::Result<journal::Replayed> World::replayed() const {
  std::vector<std::string_view> contents;
  for (const DiskFile& segment : disk_) contents.emplace_back(segment.content);
  GANGRUN_ASSIGN(const auto journal, journal::parse_journal(contents));
  return journal::replay(journal, schedule_.limits, now_, wall_time(now_));
}

// P5. What was replayed; nothing where the journal cannot be read.
std::optional<journal::Replayed> World::judge_replay() {
  auto found = replayed();
  if (!found.ok()) {
    violated(format("P5: {}", found.error().message));
    return std::nullopt;
  }
  if (!(found->gang == follower_.replayed().gang)) violated("P5: the replayed gang differs");
  return *std::move(found);
}

}  // namespace gangrun::simulation
