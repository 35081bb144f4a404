#include <algorithm>
#include <cstdio>

#include "base/clock.h"
#include "base/format.h"
#include "simulation/world.h"

// What must always hold.
namespace gangrun::simulation {

using base::format;

namespace {

// Longer than any job of a schedule can take: its runs, its restarts and all its time limits.
constexpr std::chrono::hours kBound(48);
constexpr int kManyTasks = 64;
// The gang remembers no more failures.
constexpr int kMostFailures = 256;

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
          return format("warn: {}", d.sentence);
        } else {
          return format("finish: {} ({})", job::to_string(d.state),
                        d.cause ? d.cause->sentence : "no cause");
        }
      },
      decision);
}

void World::violated(std::string what) {
  say(format("VIOLATED: {}", what));
  violations_.push_back(format("at {}: {}", base::to_words(now_ - origin_), what));
}

void World::say(const std::string& text) const {
  if (!verbose_) return;
  const std::chrono::duration<double> since = now_ - origin_;
  std::fputs(format("{:12.6f} {}\n", since.count(), text).c_str(), stdout);
}

job::Policy World::policy_of(const Agent& agent) const { return gang_.tasks()[agent.index].policy; }

void World::judge_step(const gang::Event& event, const std::vector<gang::Decision>& decisions) {
  if (finishes_ > 0 && !decisions.empty()) violated("P1: decided something after the end");
  if (now_ - origin_ > kBound) violated("P7: the job does not end");
  stop_requested_ |= std::holds_alternative<gang::StopRequested>(event);
  const job::JobState state = gang_.state();
  if (!verdict_at_ && (state == job::JobState::kStopping || job::is_final(state))) {
    verdict_at_ = now_;
  }
  if (gang_.finished() != job::is_final(state)) violated(format("finished() and state() differ"));
  const auto deadline = gang_.next_deadline();
  if (deadline && std::holds_alternative<gang::TimePassed>(event) && *deadline <= now_) {
    violated("P7: a deadline is left behind");
  }
  const bool waits = state == job::JobState::kAllocating || state == job::JobState::kRollCall ||
                     state == job::JobState::kRestarting || state == job::JobState::kStopping;
  const bool begun = !std::holds_alternative<gang::Begin>(event) || !decisions.empty();
  if (schedule_.tasks <= kManyTasks && waits && begun && records_.size() > 1 &&
      std::holds_alternative<gang::Begin>(records_.front().event) &&
      gang_.waiting_for(now_).empty()) {
    violated(format("P7: does not say what it waits for ({})", job::to_string(state)));
  }
  if (deadline || gang_.finished() || !pending_.empty()) return;
  const bool more = std::any_of(decisions.begin(), decisions.end(), [](const gang::Decision& d) {
    return !std::holds_alternative<gang::Warn>(d);
  });
  if (!more) violated("P7: waits without a time limit for what will not come");
}

// P3 and P4: complete, and what it says is so.
void World::judge_publish(const job::ClusterSpec& spec) {
  if (spec.generation != published_.generation + 1) {
    violated("P3: generations are not counted by one");
  }
  published_ = spec;
  std::size_t listed = 0;
  for (const auto& [type, addresses] : spec.tasks) listed += addresses.size();
  std::size_t members = 0;
  for (std::size_t i = 0; i < gang_.tasks().size(); ++i) {
    const gang::Task& task = gang_.tasks()[i];
    if (task.policy == job::Policy::kSidecar) continue;
    if (spec.find(task.id) == nullptr && !task.member) continue;  // a spare, or absent
    ++members;
    const job::Address* address = spec.find(task.id);
    if (address == nullptr || !newest_[i]) {
      violated(format("P3: {} is not in the cluster spec", job::to_string(task.id)));
    } else if (!(*address == agents_[*newest_[i]].address)) {
      violated(format("P4: {} is published at {} but holds {}", job::to_string(task.id),
                      job::to_string(*address), job::to_string(agents_[*newest_[i]].address)));
    }
  }
  if (listed != members) violated("P3: the cluster spec lists more than the gang");
  judge_sizes(spec);
}

// No generation is smaller than its type may be, or larger than was asked for.
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

void World::judge_start(const gang::Start& start) {
  if (start.generation < 1 || start.generation != published_.generation) {
    violated(format("P3: {} is started with generation {} while {} is published",
                    job::to_string(start.task), start.generation, published_.generation));
  }
  const bool sidecar = gang_.find(start.task)->policy == job::Policy::kSidecar;
  if (!sidecar && published_.find(start.task) == nullptr) {
    violated(format("P3: {} is started without a place", job::to_string(start.task)));
  }
}

void World::judge_process(const Agent& agent) {
  if (running_of_task_[agent.index] != 0) {
    violated(format("{} runs twice", job::to_string(agent.task)));
  }
  if (policy_of(agent) == job::Policy::kSidecar) return;
  const job::Address* address = published_.find(agent.task);
  const bool is_newest = agent.generation == published_.generation;
  if (is_newest && (address == nullptr || !(*address == agent.address))) {
    violated(format("P3: {} starts at {}, where the others do not know it",
                    job::to_string(agent.task), job::to_string(agent.address)));
  }
  for (const auto& [generation, count] : running_of_generation_) {
    if (count > 0 && generation != agent.generation) {
      violated(format("P3: {} starts in generation {} while tasks of {} run",
                      job::to_string(agent.task), agent.generation, generation));
    }
  }
}

void World::judge_finish(const gang::Finish& finish) {
  if (++finishes_ > 1) violated("P1: ended twice");
  if (!job::is_final(finish.state)) violated("P1: the end is not final");
  const bool succeeded = finish.state == job::JobState::kSucceeded;
  if (succeeded == finish.cause.has_value()) violated("P1: a cause exactly where it failed");
  if (finish.cause && finish.cause->sentence.empty()) violated("P1: a cause without words");
  if (finish.state == job::JobState::kKilled && !stop_requested_) {
    violated("P1: killed by nobody");
  }
  for (const gang::Task& task : gang_.tasks()) {
    const bool needed = schedule_.spec.success == "all" ? task.policy == job::Policy::kTracked
                                                        : task.id.type == schedule_.spec.success;
    const bool member = published_.find(task.id) != nullptr;
    if (succeeded && needed && member && !last_exit_ok_[task_index_.at(task.id)]) {
      violated(format("P1: succeeded although {} did not", job::to_string(task.id)));
    }
    const bool sidecar = task.policy == job::Policy::kSidecar;
    if (sidecar && finish.cause && finish.cause->task == task.id) {
      violated("P1: a sidecar is the cause");
    }
  }
  for (const Agent& agent : agents_) {
    if (agent.life == Agent::Life::kDead || warned_of_.contains(job::to_string(agent.task)))
      continue;
    violated(format("P2: {} attempt {} is alive after the end", job::to_string(agent.task),
                    agent.asked));
  }
  judge_first_cause(finish);
}

// P1: of the failures before the verdict, however late they were heard of, the first is named.
void World::judge_first_cause(const gang::Finish& finish) {
  const bool has_observer = schedule_.spec.find("evaluator") != nullptr;
  if (finish.state != job::JobState::kFailed || restarted_ || has_observer) return;
  const auto is_flexible = [](const job::TaskSpec& t) { return t.slots() > t.needed(); };
  // What ran nothing is no cause of anything.
  if (std::any_of(schedule_.spec.tasks.begin(), schedule_.spec.tasks.end(), is_flexible)) return;
  if (schedule_.tasks > kMostFailures || schedule_.spec.success != "all") return;
  std::set<job::TaskId> settled;
  std::map<base::Instant, std::set<job::TaskId>> failures;
  const auto settle = [&](const job::TaskId& id, bool failed, base::Instant at) {
    const gang::Task* task = gang_.find(id);
    if (task->policy == job::Policy::kSidecar || !settled.insert(id).second) return;
    if (failed && at < *verdict_at_) failures[at].insert(id);
  };
  for (const Record& record : records_) {
    if (const auto* exited = std::get_if<gang::Exited>(&record.event)) {
      settle(exited->task, !exited->report.success, exited->ended_at);
    } else if (const auto* ended = std::get_if<gang::AgentEnded>(&record.event)) {
      settle(ended->task, true, ended->ended_at);
    }
  }
  if (failures.empty()) return;
  if (!finish.cause->task || !failures.begin()->second.contains(*finish.cause->task)) {
    violated(format("P1: the first to fail was {}, the cause is: {}",
                    job::to_string(*failures.begin()->second.begin()), finish.cause->sentence));
  }
}

void World::judge_end() {
  if (violations_.empty() && finishes_ != 1) violated("P1: the job has not ended");
}

// P5, for the whole job, and what the journal would have kept of it.
void World::judge_replay(bool through_json) {
  gang::Gang replayed(schedule_.spec, schedule_.limits);
  std::vector<gang::Decision> decisions;
  for (const Record& record : records_) {
    gang::Event event = record.event;
    if (through_json) {
      auto read = gang::event_from_json(gang::to_json(event, origin_), origin_);
      if (!read.ok()) return violated(format("P5: {}", read.error().message));
      event = *std::move(read);
    }
    for (gang::Decision& decision : replayed.step(event, record.at)) {
      decisions.push_back(std::move(decision));
    }
  }
  if (!(replayed == gang_)) violated("P5: the replayed gang differs");
  if (decisions != decisions_) violated("P5: the replayed decisions differ");
}

}  // namespace gangrun::simulation
