#include "agents/barriers.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/format.h"
#include "base/strings.h"

namespace gangrun::agents {

// The first one who waits says for which tasks.
base::Result<> Barriers::agree(Barrier& barrier, const wire::BarrierQuestion& question) {
  if (barrier.here.empty()) {
    barrier.wanted = question.tasks;
    barrier.of = question.of;
    barrier.tracked = question.tracked;
  }
  if (barrier.wanted == question.tasks && barrier.tracked == question.tracked) return {};
  const auto tasks = [](int number, bool tracked) {
    return tracked ? std::string("for all tracked tasks")
                   : base::format("for {}", base::count_text(number, "task"));
  };
  return base::Error{base::Code::kFailedPrecondition,
                     base::format("other tasks wait at the barrier {} {}, not {}", question.name,
                                  tasks(barrier.wanted, barrier.tracked),
                                  tasks(question.tasks, question.tracked))};
}

void Barriers::add(Barrier& barrier, const Asker& asker, const wire::BarrierQuestion& question,
                   bool is_tracked) {
  remove(barrier, asker);
  const auto late = barrier.late.extract({asker.first, question.process});
  const bool goes_on = !late.empty() && late.mapped().may_return;
  ++barrier.moves;
  barrier.here[asker] = {question.process, goes_on ? late.mapped().since : barrier.moves};
  OfTask& task = barrier.tasks[asker.first];
  const bool had_come = !task.processes.empty() && task.has_come();
  task.wanted = question.processes;
  task.counts = is_tracked || !barrier.tracked;
  ++task.processes[question.process];
  if (task.has_come() && !had_come) ++barrier.come;
}

void Barriers::remove(Barrier& barrier, const Asker& asker) {
  const auto here = barrier.here.extract(asker);
  if (here.empty()) return;
  const auto found = barrier.tasks.find(asker.first);
  OfTask& task = found->second;
  const bool had_come = task.has_come();
  const int process = here.mapped().process;
  if (--task.processes[process] == 0) task.processes.erase(process);
  if (had_come && !task.has_come()) --barrier.come;
  if (task.processes.empty()) barrier.tasks.erase(found);
}

base::Result<Barriers::Step> Barriers::come(const Asker& asker,
                                            const wire::BarrierQuestion& question,
                                            bool is_tracked) {
  if (question.generation < generation_) {
    return base::Error{base::Code::kFailedPrecondition,
                       base::format("generation {} is over", question.generation)};
  }
  // An answer would be that of a barrier which may still be complete, and be asked again at once.
  if (question.of > 0 && question.tasks > question.of) {
    return base::Error{base::Code::kFailedPrecondition,
                       base::format("the barrier {} is for {}, and there {} {}", question.name,
                                    base::count_text(question.tasks, "task"),
                                    question.of == 1 ? "is" : "are", question.of)};
  }
  if (!barriers_.contains(question.name) && barriers_.size() >= wire::kMaxBarriers) {
    return base::Error{base::Code::kResourceExhausted,
                       base::format("there are {} barriers with different names, the most that a "
                                    "generation may have; one name may be used again and again",
                                    wire::kMaxBarriers)};
  }
  Barrier& barrier = barriers_[question.name];
  if (question.round > 0 && question.round <= barrier.released) {
    return Step{Next::kAnswer, {.is_complete = true, .round = question.round}};
  }
  if (question.round > 0 && question.round <= barrier.complete) {
    barrier.leaving[asker] = question.round;
    at_[asker] = question.name;
    return Step{};
  }
  const std::int64_t open = barrier.complete + 1;
  if (question.round != open) return Step{Next::kAnswer, {.is_complete = false, .round = open}};
  GANGRUN_TRY(agree(barrier, question));
  if (is_hopeless(barrier)) return Step{Next::kAnswer, hopeless_answer(barrier)};
  add(barrier, asker, question, is_tracked);
  at_[asker] = question.name;
  if (barrier.come < barrier.wanted) return Step{};
  barrier.complete = open;
  for (const auto& [each, here] : barrier.here) barrier.leaving[each] = open;
  barrier.here.clear();
  barrier.tasks.clear();
  barrier.late.clear();
  barrier.come = 0;
  return Step{Next::kRecord, {.is_complete = true, .round = open}};
}

std::vector<Asker> Barriers::release(int generation, const std::string& name, std::int64_t round) {
  if (generation < generation_) return {};
  generation_ = generation;
  Barrier& barrier = barriers_[name];
  barrier.released = std::max(barrier.released, round);
  barrier.complete = std::max(barrier.complete, round);
  std::vector<Asker> gone;
  for (const auto& [asker, of_round] : barrier.leaving) {
    if (of_round <= round) gone.push_back(asker);
  }
  for (const Asker& asker : gone) take_back(asker);
  return gone;
}

std::vector<Asker> Barriers::refuse(int generation, const std::string& name, std::int64_t round) {
  const auto found = barriers_.find(name);
  if (generation < generation_ || found == barriers_.end()) return {};
  Barrier& barrier = found->second;
  barrier.complete = std::min(barrier.complete, round - 1);
  std::vector<Asker> refused;
  for (const auto& [asker, of_round] : barrier.leaving) {
    if (of_round >= round) refused.push_back(asker);
  }
  for (const Asker& asker : refused) take_back(asker);
  return refused;
}

// A task that has ended is not there: its processes ended before it did.
bool Barriers::is_hopeless(const Barrier& barrier) const {
  const auto ended = barrier.tracked ? ended_tracked_ : std::ssize(ended_);
  return barrier.of > 0 && barrier.of - ended < barrier.wanted;
}

wire::BarrierAnswer Barriers::hopeless_answer(const Barrier& barrier) const {
  std::vector<const Ended*> relevant;
  for (const auto& [task, ended] : ended_) {
    if (ended.is_tracked || !barrier.tracked) relevant.push_back(&ended);
  }
  return {.is_complete = false,
          .round = barrier.complete + 1,
          .ended = base::first_and_more(relevant, kMaxEndedNamed, [](const Ended* ended) {
            return base::format("{} {}", job::to_string(ended->task), ended->how);
          })};
}

std::vector<Barriers::Hopeless> Barriers::end(Ended ended) {
  std::vector<Hopeless> hopeless;
  const bool is_tracked = ended.is_tracked;
  const job::TaskId task = ended.task;
  if (!ended_.emplace(task, std::move(ended)).second) return hopeless;
  if (is_tracked) ++ended_tracked_;
  for (auto& [name, barrier] : barriers_) {
    if (barrier.here.empty() || !is_hopeless(barrier)) continue;
    Hopeless& each = hopeless.emplace_back();
    each.answer = hopeless_answer(barrier);
    for (const auto& [asker, here] : barrier.here) each.askers.push_back(asker);
  }
  for (const Hopeless& each : hopeless) {
    for (const Asker& asker : each.askers) take_back(asker);
  }
  return hopeless;
}

void Barriers::take_back(const Asker& asker) {
  const auto at = at_.extract(asker);
  if (at.empty()) return;
  Barrier& barrier = barriers_.at(at.mapped());
  remove(barrier, asker);
  barrier.leaving.erase(asker);
  const auto may_return = [](const auto& late) { return late.second.may_return; };
  if (barrier.here.empty() && std::ranges::none_of(barrier.late, may_return)) barrier.late.clear();
}

std::vector<Asker> Barriers::begin(int generation) {
  std::vector<Asker> ended;
  if (generation <= generation_) return ended;
  generation_ = generation;
  for (const auto& [asker, name] : at_) ended.push_back(asker);
  at_.clear();
  barriers_.clear();
  ended_.clear();
  ended_tracked_ = 0;
  return ended;
}

wire::BarrierAnswer Barriers::answer_to(const Asker& asker) const {
  wire::BarrierAnswer answer;
  const auto at = at_.find(asker);
  if (at == at_.end()) return answer;
  const Barrier& barrier = barriers_.at(at->second);
  const auto leaving = barrier.leaving.find(asker);
  answer.round = leaving == barrier.leaving.end() ? barrier.complete + 1 : leaving->second;
  struct Seen {
    std::set<int> processes{};
    int wanted = 1;
  };
  std::map<job::TaskId, Seen> seen;
  const auto see = [&](const job::TaskId& task, int process, int wanted) {
    seen[task].processes.insert(process);
    seen[task].wanted = wanted;
  };
  for (const auto& [task, of_task] : barrier.tasks) {
    if (!of_task.counts) continue;
    for (const auto& [process, questions] : of_task.processes) see(task, process, of_task.wanted);
  }
  const auto here = barrier.here.find(asker);
  const std::int64_t since = here == barrier.here.end() ? barrier.moves : here->second.since;
  for (const auto& [who, late] : barrier.late) {
    if (late.left > since) see(who.first, who.second, late.wanted);
  }
  for (const auto& [task, of_task] : seen) {
    const auto processes = static_cast<int>(of_task.processes.size());
    if (processes >= of_task.wanted) {
      answer.come.push_back(task);
    } else if (!ended_.contains(task)) {
      answer.partly.push_back({task, processes});
    }
  }
  for (const auto& [task, ended] : ended_) {
    const bool could_come = ended.is_tracked || !barrier.tracked;
    const bool has_come = std::ranges::find(answer.come, task) != answer.come.end();
    if (could_come && !has_come) answer.gone.push_back(task);
  }
  return answer;
}

// Waiters with equal times leave one after the other: the later ones still know of the earlier.
wire::BarrierAnswer Barriers::time_out(const Asker& asker, bool may_return) {
  wire::BarrierAnswer answer = answer_to(asker);
  const auto at = at_.find(asker);
  if (at == at_.end()) return answer;
  Barrier& barrier = barriers_.at(at->second);
  const auto here = barrier.here.find(asker);
  if (here != barrier.here.end() && barrier.tasks.at(asker.first).counts) {
    barrier.late[{asker.first, here->second.process}] = {
        .since = here->second.since,
        .left = ++barrier.moves,
        .wanted = barrier.tasks.at(asker.first).wanted,
        .may_return = may_return};
  }
  take_back(asker);
  return answer;
}

bool Barriers::is_leaving(const Asker& asker) const {
  const auto at = at_.find(asker);
  return at != at_.end() && barriers_.at(at->second).leaving.contains(asker);
}

std::map<std::string, std::int64_t> Barriers::released() const {
  std::map<std::string, std::int64_t> rounds;
  for (const auto& [name, barrier] : barriers_) {
    if (barrier.released > 0) rounds[name] = barrier.released;
  }
  return rounds;
}

}  // namespace gangrun::agents
