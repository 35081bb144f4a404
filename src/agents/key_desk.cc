#include "agents/key_desk.h"

#include <algorithm>
#include <vector>

#include "base/described_json.h"
#include "base/format.h"

namespace gangrun::agents {

namespace {

constexpr std::int64_t kFirstOfTask = 0;

}  // namespace

KeyDesk::KeyDesk(net::EventLoop& loop, base::Logger& logger, std::string folder,
                 cluster::FarKeys* far, IsTracked is_tracked, Answer answer)
    : loop_(loop),
      logger_(logger),
      is_tracked_(std::move(is_tracked)),
      answer_(std::move(answer)),
      log_(std::move(folder), far, kept_) {}

bool KeyDesk::ask(const job::TaskId& task, const wire::AskMessage& question) {
  const Asker asker{task, question.id};
  base::Result<> done;
  if (question.kind == wire::kKeyKind) {
    done = answer_keys(asker, question);
  } else if (question.kind == wire::kBarrierKind) {
    done = answer_barrier(asker, question);
  } else if (question.kind == wire::kCancelKind) {
    done = cancel(asker, question);
  } else {
    return false;
  }
  if (!done.ok()) refuse(asker, done.error());
  return true;
}

// Most jobs have no keys, and no file of them is looked for.
base::Result<> KeyDesk::read_once() {
  if (was_read_) return {};
  GANGRUN_TRY(log_.read(kept_).context("the keys that an earlier master has kept"));
  was_read_ = true;
  return {};
}

base::Result<> KeyDesk::answer_keys(const Asker& asker, const wire::AskMessage& ask) {
  GANGRUN_TRY(read_once());
  GANGRUN_ASSIGN(auto question, base::from_json<wire::KeyQuestion>(ask.about));
  using wire::KeyAction;
  switch (question.action) {
    case KeyAction::kPut:
    case KeyAction::kDelete: return change(asker, std::move(question));
    case KeyAction::kList:
      say(asker, base::to_json(kept_.store.list(question.key, question.after)));
      return {};
    case KeyAction::kGet:
    case KeyAction::kWait: break;
  }
  const std::string* value = kept_.store.find(question.key);
  if (value == nullptr && question.action == KeyAction::kWait) {
    return hold(asker, std::move(question.key), false, ask.limit);
  }
  wire::KeyAnswer answer;
  answer.found = value != nullptr;
  if (value != nullptr) answer.value = *value;
  say(asker, base::to_json(answer));
  return {};
}

// An agent has one change on its way. The same one again, in its next session, is answered in place
// of the first.
base::Result<> KeyDesk::change(const Asker& asker, wire::KeyQuestion question) {
  const bool is_put = question.action == wire::KeyAction::kPut;
  const KeyChange change{.key = std::move(question.key),
                         .value = is_put ? std::optional(std::move(question.value)) : std::nullopt,
                         .task = asker.first,
                         .attempt = question.attempt,
                         .number = question.change};
  const std::pair agent(asker.first, question.attempt);
  if (const auto on_way = on_way_.find(agent); on_way != on_way_.end()) {
    if (on_way->second.number == change.number) {
      on_way->second.question = asker.second;
      return {};
    }
    return base::Error{base::Code::kFailedPrecondition,
                       "a change of this agent is being made already"};
  }
  if (kept_.store.is_made(change)) {
    say(asker, base::to_json(wire::KeyAnswer{.found = true}));
    return {};
  }
  GANGRUN_TRY(kept_.store.check(change, coming_));
  on_way_[agent] = {change.number, asker.second};
  if (change.value) {
    ++coming_.keys;
    coming_.bytes += change.key.size() + change.value->size();
  }
  log_.add(record_of(change),
           [this, change](const base::Result<>& recorded) { on_recorded(change, recorded); });
  return {};
}

void KeyDesk::on_recorded(const KeyChange& change, const base::Result<>& recorded) {
  const auto asked = on_way_.extract({change.task, change.attempt}).mapped().question;
  const Asker asker{change.task, asked.value_or(0)};
  if (change.value) {
    --coming_.keys;
    coming_.bytes -= change.key.size() + change.value->size();
  }
  if (!recorded.ok()) {
    logger_.warning("the key {}: {}", change.key, recorded.error().message);
    if (asked) refuse(asker, recorded.error());
    return;
  }
  const bool was_there = kept_.store.apply(change);
  if (asked) {
    say(asker, base::to_json(wire::KeyAnswer{.found = change.value.has_value() || was_there}));
  }
  if (!change.value) return;
  std::vector<Asker> waiting;
  for (auto next = waiting_.lower_bound({change.key, Asker{}});
       next != waiting_.end() && next->first == change.key; ++next) {
    waiting.push_back(next->second);
  }
  const base::Json said = base::to_json(wire::KeyAnswer{.found = true, .value = *change.value});
  for (const Asker& each : waiting) {
    drop(each);
    say(each, said);
  }
}

void KeyDesk::begin(int generation) {
  for (const Asker& each : kept_.barriers.begin(generation)) {
    drop(each);
    refuse(each, base::Error{base::Code::kFailedPrecondition, "its generation is over"});
  }
}

void KeyDesk::on_task_ended(int generation, const job::TaskId& task, bool is_tracked,
                            std::string how) {
  begin(generation);
  if (generation < kept_.barriers.generation()) return;
  for (const auto& [askers, answer] : kept_.barriers.end({task, is_tracked, std::move(how)})) {
    const base::Json said = base::to_json(answer);
    for (const Asker& each : askers) {
      drop(each);
      say(each, said);
    }
  }
}

base::Result<> KeyDesk::answer_barrier(const Asker& asker, const wire::AskMessage& ask) {
  GANGRUN_TRY(read_once());
  GANGRUN_ASSIGN(const auto question, base::from_json<wire::BarrierQuestion>(ask.about));
  begin(question.generation);
  GANGRUN_ASSIGN(const Barriers::Step step,
                 kept_.barriers.come(asker, question, is_tracked_(asker.first)));
  if (step.next == Barriers::Next::kAnswer) {
    say(asker, base::to_json(step.answer));
    return {};
  }
  if (const auto held = hold(asker, question.name, true, ask.limit); !held.ok()) {
    kept_.barriers.take_back(asker);
    return held;
  }
  if (step.next == Barriers::Next::kRecord) {
    record_round(question.generation, question.name, step.answer.round);
  }
  return {};
}

void KeyDesk::record_round(int generation, const std::string& barrier, std::int64_t round) {
  log_.add(record_of_round(generation, barrier, round), [=, this](const base::Result<>& recorded) {
    const auto told = recorded.ok() ? kept_.barriers.release(generation, barrier, round)
                                    : kept_.barriers.refuse(generation, barrier, round);
    for (const Asker& each : told) {
      drop(each);
      if (recorded.ok()) {
        say(each, base::to_json(wire::BarrierAnswer{.is_complete = true, .round = round}));
      } else {
        refuse(each, recorded.error());
      }
    }
  });
}

base::Result<> KeyDesk::cancel(const Asker& asker, const wire::AskMessage& ask) {
  GANGRUN_ASSIGN(const auto question, base::from_json<wire::CancelQuestion>(ask.about));
  drop({asker.first, question.question});
  say(asker, base::Json::object());
  return {};
}

base::Result<> KeyDesk::hold(const Asker& asker, std::string key, bool is_barrier,
                             std::chrono::milliseconds limit) {
  if (held_.size() >= kMaxHeldQuestions) {
    return base::Error{
        base::Code::kResourceExhausted,
        base::format("{} processes wait for keys and at barriers already", held_.size())};
  }
  if (!is_barrier) waiting_.emplace(key, asker);
  Held& held = held_[asker];
  held.key = std::move(key);
  held.is_barrier = is_barrier;
  held.may_return = limit >= wire::kMaxHold;
  held.limit = loop_.after(std::min(limit, wire::kMaxHold), [this, asker] { on_limit(asker); });
  return {};
}

void KeyDesk::on_limit(const Asker& asker) {
  const Held& held = held_.at(asker);
  // It goes on when that is recorded.
  if (held.is_barrier && kept_.barriers.is_leaving(asker)) return;
  const base::Json said = held.is_barrier
                              ? base::to_json(kept_.barriers.time_out(asker, held.may_return))
                              : base::to_json(wire::KeyAnswer{});
  drop(asker);
  say(asker, said);
}

void KeyDesk::drop(const Asker& asker) {
  const auto held = held_.extract(asker);
  if (held.empty()) return;
  if (held.mapped().is_barrier) {
    kept_.barriers.take_back(asker);
  } else {
    waiting_.erase({held.mapped().key, asker});
  }
}

void KeyDesk::on_session_lost(const job::TaskId& task) {
  std::vector<Asker> gone;
  for (auto next = held_.lower_bound({task, kFirstOfTask});
       next != held_.end() && next->first.first == task; ++next) {
    gone.push_back(next->first);
  }
  for (const Asker& each : gone) drop(each);
  for (auto& [agent, on_way] : on_way_) {
    if (agent.first == task) on_way.question.reset();
  }
}

void KeyDesk::say(const Asker& asker, base::Json said) {
  answer_(asker.first, {.id = asker.second, .said = std::move(said), .refused = {}});
}

void KeyDesk::refuse(const Asker& asker, const base::Error& error) {
  answer_(asker.first, {.id = asker.second, .said = {}, .refused = error.message});
}

}  // namespace gangrun::agents
