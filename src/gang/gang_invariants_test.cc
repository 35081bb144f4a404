#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "gang/gang_past.h"
#include "gang/gang_situations.h"
#include "gang/task_traits.h"

// Rules that every row of the decision table obeys, whatever it says: rules with a name each. The
// table is a recording, and would record a mistake as well. The rules are also checked where the
// job goes on after a row, with any other event and to its end, and on the way to it.
namespace gangrun::gang {
namespace {

// One event in one situation, and what came of it.
struct Row {
  std::string name;
  const job::JobSpec& spec;
  Past past;
  Gang before;
  base::Instant now;
  Event event;
  std::vector<Decision> decisions;
  Gang after;

  template <typename T>
  [[nodiscard]] bool has(T = {}) const {
    return std::any_of(decisions.begin(), decisions.end(),
                       [](const Decision& d) { return std::holds_alternative<T>(d); });
  }
  [[nodiscard]] const Finish* finish() const {
    for (const Decision& decision : decisions) {
      if (const auto* finish = std::get_if<Finish>(&decision)) return finish;
    }
    return nullptr;
  }
  // The task that the event is about.
  [[nodiscard]] const Task* subject() const {
    return std::visit(
        [&](const auto& e) -> const Task* {
          if constexpr (requires { e.task; }) {
            return before.find(e.task);
          } else {
            return nullptr;
          }
        },
        event);
  }
};

std::string said(const job::TaskId& task, std::string_view what) {
  return base::format("{} {}", job::to_string(task), what);
}

// Looks at each decision of a kind, with all that was decided before it. What `look` returns is
// what is wrong with it; empty: nothing.
template <typename... Looks>
std::string each_decision(const Row& row, Looks... looks) {
  const auto look = base::Overloaded{looks...};
  Past past = row.past;
  past.happened(row.event);
  for (const Decision& decision : row.decisions) {
    const std::string wrong = std::visit(
        [&](const auto& d) -> std::string {
          if constexpr (requires { look(d, past); }) {
            return look(d, past);
          } else {
            return "";
          }
        },
        decision);
    if (!wrong.empty()) return wrong;
    past.decided(decision);
  }
  return "";
}

template <typename Look>
std::string each_task(const Row& row, Look look) {
  for (const Task& task : row.after.tasks()) {
    const std::string_view wrong = look(task, *row.before.find(task.id));
    if (!wrong.empty()) return said(task.id, wrong);
  }
  return "";
}

// The end of the job (P1).

std::string nothing_after_the_end(const Row& row) {
  if (!row.before.finished()) return "";
  if (!row.decisions.empty()) return "decides something";
  return row.after == row.before ? "" : "changes its state";
}

std::string one_end(const Row& row) {
  const auto ends = std::count_if(row.decisions.begin(), row.decisions.end(),
                                  [](const auto& d) { return std::holds_alternative<Finish>(d); });
  const bool is_end = row.after.finished() && !row.before.finished();
  if (ends != (is_end ? 1 : 0)) return base::format("finishes {} times", ends);
  if (is_end && !std::holds_alternative<Finish>(row.decisions.back())) return "goes on after it";
  return "";
}

std::string nobody_alive_at_the_end(const Row& row) {
  if (!row.has<Finish>() || !row.past.has_begun()) return "";
  return each_task(row, [](const Task& task, const Task&) {
    return task.phase == Phase::kGone ? "" : "has an agent";
  });
}

std::string the_end_has_its_cause(const Row& row) {
  const Finish* finish = row.finish();
  if (finish == nullptr) return "";
  if (finish->state != row.after.state()) return "is in another state";
  const bool has_cause = finish->cause.has_value();
  switch (finish->state) {
    case job::JobState::kSucceeded: return has_cause ? "succeeds with a cause" : "";
    case job::JobState::kFailed:
      if (!has_cause) return "fails without a cause";
      return finish->cause->why.reason == job::Reason::kUnknown ? "fails for no known reason" : "";
    case job::JobState::kKilled:
      if (!row.past.end_requested && !asks_for_end(row.event)) return "nobody asked for it";
      if (!has_cause) return "is stopped without a cause";
      return finish->cause->why.reason == job::Reason::kStopped ? ""
                                                                : "is stopped for another reason";
    default: return "ends in a state that is not final";
  }
}

std::string success_is_of_all(const Row& row) {
  const auto is_decided = [](const Gang& gang) {
    return gang.finished() || gang.state() == job::JobState::kStopping;
  };
  // The later fate of their agents changes nothing of it.
  const bool is_now = is_decided(row.after) && !is_decided(row.before);
  if (!is_now || row.after.first_cause() || row.has<Finish>()) return "";
  return each_task(row, [](const Task& task, const Task&) {
    const bool is_needed = task.policy == job::Policy::kTracked && task.member;
    return is_needed && task.outcome != Outcome::kSucceeded ? "did not succeed" : "";
  });
}

std::string a_verdict_stays(const Row& row) {
  if (row.before.state() != job::JobState::kStopping) return "";
  const auto before = row.before.first_cause();
  const auto after = row.after.first_cause();
  if (before.has_value() != after.has_value()) return "success and failure change places";
  const bool was_killed = before && before->why.reason == job::Reason::kStopped;
  if (was_killed && after->why.reason != job::Reason::kStopped) return "it was stopped, and fails";
  const bool is_stopped = after && after->why.reason == job::Reason::kStopped;
  return is_stopped && !was_killed ? "it failed, and is stopped" : "";
}

std::string the_decided_end_reaches_all(const Row& row) {
  if (row.after.state() != job::JobState::kStopping) return "";
  return each_task(row, [](const Task& task, const Task&) {
    const bool lingers = task.policy == job::Policy::kSidecar && task.phase == Phase::kRunning;
    if (task.phase == Phase::kGone || task.phase == Phase::kEnding) return "";
    return lingers && task.deadline ? "" : "goes on";
  });
}

// Sidecars and restarts.

std::string a_sidecar_decides_nothing(const Row& row) {
  const auto cause = row.after.first_cause();
  if (cause && cause->task && row.after.find(*cause->task)->policy == job::Policy::kSidecar) {
    return "it is the cause";
  }
  const Task* subject = row.subject();
  if (subject == nullptr || subject->policy != job::Policy::kSidecar) return "";
  const bool is_last = row.has<Finish>() && row.before.state() == job::JobState::kStopping;
  if (row.after.state() != row.before.state() && !is_last) return "the state of the job changes";
  if (row.after.restarts_used() != row.before.restarts_used()) return "a restart is counted";
  return each_decision(
      row, [](const Publish&, const Past&) { return std::string("a generation is published"); },
      [&](const base::OneOf<Allocate, Start, Stop, End, Kill> auto& d, const Past&) {
        return d.task == subject->id ? "" : said(d.task, "is told something");
      });
}

std::string restarts_are_counted(const Row& row) {
  const int more = row.after.restarts_used() - row.before.restarts_used();
  if (row.after.restarts_used() > row.spec.restarts.max) return "more than there are";
  if (more < 0 || more > 1) return base::format("{} in one step", more);
  if (more == 0) return "";
  const auto is_own_fault = [](const Event& event) {
    if (const auto* exited = std::get_if<job::Exited>(&event)) {
      return !exited->report.success && job::is_own_fault(exited->report.why.reason);
    }
    const auto* ended = std::get_if<job::AgentEnded>(&event);
    return ended != nullptr && job::is_own_fault(ended->why.reason);
  };
  return is_own_fault(row.event) ? "" : "for what is no task's doing";
}

std::string who_lacks_another_is_not_blamed(const Row& row) {
  const auto* exited = std::get_if<job::Exited>(&row.event);
  if (exited == nullptr || row.before.state() != job::JobState::kRunning) return "";
  const job::ExitReport& report = exited->report;
  const auto& tasks = row.before.tasks();
  const bool lacks = std::any_of(tasks.begin(), tasks.end(), [&](const Task& other) {
    return other.lacked && is_pending(other) && other.id != exited->task;
  });
  if (!lacks || report.success || !job::may_lack_others(report.why.reason)) return "";
  if (row.after.restarts_used() > row.before.restarts_used()) return "it uses up a restart";
  return row.after.state() == job::JobState::kStopping ? "it ends the job" : "";
}

// The life of a task.

std::string one_agent_at_a_time(const Row& row) {
  return each_decision(row, [&](const Allocate& d, const Past& past) -> std::string {
    if (row.before.find(d.task)->dropped) return said(d.task, "was given up");
    const auto found = past.told.find(d.task);
    if (found == past.told.end()) return "";
    const Told& told = found->second;
    if (d.attempt <= told.allocated) return said(d.task, "is requested as before");
    // A new master does not know whether the agent that was requested last has been started.
    const bool may_be = std::holds_alternative<Resumed>(row.event) &&
                        row.before.find(d.task)->phase == Phase::kAsked && told.end;
    return told.gone || told.kill || may_be ? "" : said(d.task, "still has an agent");
  });
}

std::string only_agents_are_told(const Row& row) {
  const auto told_of = [](const job::TaskId& task, const Past& past) {
    const auto found = past.told.find(task);
    return found == past.told.end() || found->second.gone ? Told{} : found->second;
  };
  return each_decision(
      row,
      [&](const base::OneOf<End, Kill> auto& d, const Past& past) {
        // The cluster knows it by that number.
        return d.attempt == told_of(d.task, past).allocated ? ""
                                                            : said(d.task, "has no such agent");
      },
      [&](const Stop& d, const Past& past) {
        return d.attempt == told_of(d.task, past).started ? "" : said(d.task, "has no such run");
      },
      [&](const Start& d, const Past& past) {
        const int allocated = told_of(d.task, past).allocated;
        return allocated > 0 && d.attempt >= allocated ? "" : said(d.task, "has no such agent");
      });
}

std::string none_starts_that_is_to_end(const Row& row) {
  return each_decision(row, [](const base::OneOf<Start, Stop> auto& d, const Past& past) {
    const auto found = past.told.find(d.task);
    const bool ends = found != past.told.end() && (found->second.end || found->second.kill);
    return ends ? said(d.task, "was told to end") : "";
  });
}

std::string no_run_is_started_twice(const Row& row) {
  return each_decision(row, [&](const Start& d, const Past& past) -> std::string {
    const auto found = past.told.find(d.task);
    const int before = found == past.told.end() ? 0 : found->second.started;
    if (d.attempt < before) return said(d.task, "goes back to an earlier run");
    // An agent that is back may not have heard it.
    const Task* subject = row.subject();
    const bool again = subject != nullptr && subject->id == d.task && subject->silent &&
                       subject->phase == Phase::kStarting;
    const bool is_told = std::holds_alternative<Reattached>(row.event) && subject != nullptr &&
                         subject->phase == Phase::kStarting;
    return d.attempt > before || again || is_told ? "" : said(d.task, "runs already");
  });
}

std::string kill_comes_last(const Row& row) {
  return each_decision(row, [&](const Kill& d, const Past& past) -> std::string {
    const auto found = past.told.find(d.task);
    const bool was_told = found != past.told.end() && (found->second.end || found->second.stop);
    return was_told || row.before.find(d.task)->silent ? "" : said(d.task, "was not asked first");
  });
}

std::string asking_again_gives_no_time(const Row& row) {
  // A new master has to reach the agents first.
  if (std::holds_alternative<Resumed>(row.event)) return "";
  return each_task(row, [](const Task& task, const Task& before) {
    const bool ends = task.phase == Phase::kEnding && before.phase == Phase::kEnding;
    if (!ends || task.killed != before.killed) return "";
    return *task.deadline <= *before.deadline ? "" : "has more time than before";
  });
}

std::string numbers_only_grow(const Row& row) {
  if (row.after.cluster_spec().generation < row.before.cluster_spec().generation) {
    return "an earlier generation";
  }
  return each_task(row, [](const Task& task, const Task& before) {
    const bool grows = task.attempt >= before.attempt &&
                       task.allocated_attempt >= before.allocated_attempt &&
                       task.allocated_attempt <= task.attempt;
    return grows ? "" : "has an earlier attempt";
  });
}

// Generations (P3).

std::string starts_are_published(const Row& row) {
  return each_decision(row, [&](const Start& d, const Past& past) -> std::string {
    if (d.generation < 1) return said(d.task, "starts before there is a generation");
    if (d.generation != past.generation) return said(d.task, "starts in another generation");
    const Task* task = row.after.find(d.task);
    // Nobody needs to know where a sidecar is.
    if (task->policy == job::Policy::kSidecar) return "";
    const job::Address* address = row.after.cluster_spec().find(d.task);
    const bool known = address != nullptr && *address == task->address && address->port != 0;
    return known ? "" : said(d.task, "starts where the others do not know it");
  });
}

std::string a_generation_is_whole(const Row& row) {
  if (!row.has<Publish>()) return "";
  const job::ClusterSpec& spec = row.after.cluster_spec();
  if (spec.generation != row.before.cluster_spec().generation + 1) return "is not the next one";
  for (const job::TaskSpec& type : row.spec.tasks) {
    if (job::effective_policy(row.spec, type) == job::Policy::kSidecar) continue;
    const auto found = spec.tasks.find(type.type);
    const int count = found == spec.tasks.end() ? 0 : static_cast<int>(found->second.size());
    if (count >= type.needed() && count <= type.instances) continue;
    return base::format("has {} of the type {}", count, type.type);
  }
  std::map<job::TaskId, int> started;
  for (const Decision& decision : row.decisions) {
    if (const auto* start = std::get_if<Start>(&decision)) started[start->task] = start->generation;
  }
  return each_task(row, [&](const Task& task, const Task&) {
    if (task.policy == job::Policy::kSidecar) return "";
    const bool listed = spec.find(task.id) != nullptr;
    if (listed != task.member) return "has a place and is not in it";
    return !listed || started[task.id] == spec.generation ? "" : "does not start with the others";
  });
}

std::string generations_do_not_meet(const Row& row) {
  if (!row.has<Publish>()) return "";
  return each_task(row, [](const Task& task, const Task&) {
    if (task.policy == job::Policy::kSidecar) return "";
    return task.phase == Phase::kRunning || may_still_run(task) ? "may run in the last one" : "";
  });
}

// Waits (P7).

std::string every_wait_has_a_limit(const Row& row) {
  const job::JobState state = row.after.state();
  const bool waits = state == job::JobState::kAllocating || state == job::JobState::kRollCall ||
                     state == job::JobState::kRestarting || state == job::JobState::kStopping;
  const bool has_begun = row.past.has_begun() || row.has<Allocate>();
  const auto deadline = row.after.next_deadline();
  if (waits && has_begun && !deadline) return "the job waits without one";
  if (waits && has_begun && row.after.waiting_for(row.now).empty())
    return "it is not said for what";
  if (deadline && is_time(row.event) && *deadline <= row.now) return "one is left behind";
  if (row.after.finished()) return "";
  return each_task(row, [](const Task& task, const Task&) {
    const bool is_awaited = task.silent || task.phase == Phase::kAllocated ||
                            task.phase == Phase::kStarting || task.phase == Phase::kStopping ||
                            task.phase == Phase::kEnding;
    return is_awaited && !task.deadline ? "is awaited without one" : "";
  });
}

// The journal (P5).

std::string what_matters_is_known(const Row& row) {
  if (row.before.matters(row.event, row.now)) return "";
  return row.decisions.empty() && row.after == row.before ? "" : "it did";
}

std::string the_same_comes_of_the_same(const Row& row) {
  Gang again = row.before;
  if (!(again.step(row.event, row.now) == row.decisions)) return "something else is decided";
  return again == row.after ? "" : "the state differs";
}

struct Invariant {
  std::string_view name;
  std::string (*broken)(const Row&);  // what is wrong; empty: nothing
};

constexpr Invariant kInvariants[] = {
    {"Nothing is decided after the end", nothing_after_the_end},
    {"A job ends once, by its last decision", one_end},
    {"No task is alive at the end", nobody_alive_at_the_end},
    {"An end has its cause: none, a known reason, or who asked for it", the_end_has_its_cause},
    {"A job succeeds only when all that it needs did", success_is_of_all},
    {"A verdict does not change", a_verdict_stays},
    {"When the end is decided, every task ends", the_decided_end_reaches_all},
    {"A sidecar changes nothing for the others", a_sidecar_decides_nothing},
    {"Restarts are counted for a task's own doing, and limited", restarts_are_counted},
    {"Who fails for want of another is not blamed", who_lacks_another_is_not_blamed},
    {"A task has one agent at a time", one_agent_at_a_time},
    {"Only an agent that may be there is told something", only_agents_are_told},
    {"No task starts or stops that was told to end", none_starts_that_is_to_end},
    {"No run is started twice", no_run_is_started_twice},
    {"Killed is who was asked before, or is silent", kill_comes_last},
    {"Asking again gives no more time", asking_again_gives_no_time},
    {"Attempts and generations only grow", numbers_only_grow},
    {"A task starts in the last published generation, at its address", starts_are_published},
    {"A generation is whole, and starts as a whole", a_generation_is_whole},
    {"No task of the last generation may run beside the next", generations_do_not_meet},
    {"Every wait has a limit", every_wait_has_a_limit},
    {"What does not matter changes nothing", what_matters_is_known},
    {"The same event at the same time gives the same", the_same_comes_of_the_same},
};

// Makes `happen` happen to the driver, and checks the row.
template <typename Happen>
void check(const std::string& name, Driver& driver, const Happen& happen) {
  Past past;
  for (const Step& step : driver.steps()) {
    past.happened(step.event);
    for (const Decision& decision : step.decisions) past.decided(decision);
  }
  const Gang before = driver.gang();
  happen();
  const Step& step = driver.steps().back();
  const Row row{name,         driver.spec(), std::move(past), before,
                driver.now(), step.event,    step.decisions,  driver.gang()};
  for (const Invariant& invariant : kInvariants) {
    const std::string broken = invariant.broken(row);
    EXPECT_EQ(broken, "") << "In the row \"" << name << "\" (decided: " << text_of(row.decisions)
                          << "), this rule is broken: " << invariant.name;
  }
}

// The way to a situation is a row each step too.
void check_the_way(const std::string& name, const Driver& made) {
  Driver driver(made.spec());
  int number = 0;
  for (const Step& step : made.steps()) {
    driver.pass(step.at - driver.now());
    check(base::format("the way to {}: step {}, {}", name, ++number, name_of(step.event)), driver,
          [&] { driver.step(step.event); });
  }
}

// Somebody asks for the end, and nobody answers any more: time alone brings the job to its end.
void check_to_the_end(const std::string& name, Driver& driver) {
  constexpr int kMostSteps = 50;
  check(name + ", stop_requested", driver, [&] { driver.step(StopRequested{"Ctrl-C", false}); });
  for (int i = 0; i < kMostSteps && !driver.gang().finished(); ++i) {
    check(base::format("{}, stop_requested, time_passed {}", name, i), driver,
          [&] { driver.expire(); });
  }
  EXPECT_TRUE(driver.gang().finished()) << name << ": the job does not end";
}

class GangInvariantsTest : public testing::TestWithParam<std::string> {};

TEST_P(GangInvariantsTest, EveryRowAndWhatFollowsObeysThem) {
  const auto all = happenings();
  check_the_way(GetParam(), situations().at(GetParam())().driver);
  for (const auto& [first, happening] : all) {
    Situation made = situations().at(GetParam())();
    made.driver.pass(std::chrono::milliseconds(10));
    const std::string name = base::format("{} {}", GetParam(), first);
    check(name, made.driver, [&made, &what = happening] { what(made.driver, made.subject); });
    for (const auto& [second, next] : all) {
      Driver driver = made.driver;
      driver.pass(std::chrono::milliseconds(10));
      check(base::format("{}, {}", name, second), driver,
            [&driver, &made, &what = next] { what(driver, made.subject); });
    }
    check_to_the_end(name, made.driver);
    if (HasFailure()) return;
  }
}

std::vector<std::string> names_of_situations() {
  std::vector<std::string> names;
  for (const auto& [name, make] : situations()) names.push_back(name);
  return names;
}

INSTANTIATE_TEST_SUITE_P(Situations, GangInvariantsTest, testing::ValuesIn(names_of_situations()),
                         [](const auto& situation) {
                           std::string name = situation.param;
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace gangrun::gang
