#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <map>
#include <set>
#include <sstream>

#include "gang/gang_driver.h"
#include "gang/gang_table_rows.h"
#include "gang/gang_table_rows_elastic.h"
#include "job/test_tasks.h"

// The decision table, walked whole: every phase of a task and every event have an expected row.
namespace gangrun::gang {
namespace {

constexpr std::array<std::string_view, 9> kPhases = {"asked",    "allocated", "registered",
                                                     "starting", "running",   "stopping",
                                                     "idle",     "ending",    "gone"};

Driver small_gang(job::RestartScope scope = job::RestartScope::kTask) {
  const std::chrono::minutes grace(2);
  job::JobSpec spec =
      job_of({task_type("chief"), task_type("worker", 2), task_type("ps"),
              task_type("evaluator", 1, grace), task_type("tensorboard", 1, grace)});
  spec.restarts = at_once(1, scope);
  return Driver(spec);
}

Driver running_gang(job::RestartScope scope = job::RestartScope::kTask) {
  Driver driver = small_gang(scope);
  driver.run_all();
  return driver;
}

void succeed_tracked(Driver& driver) {
  driver.exited(job::kChief, 0);
  driver.exited({"worker", 0}, 0);
  driver.exited(job::kWorker1, 0);
}

// A gang driven to where something may happen to one of its tasks.
struct Situation {
  Driver driver;
  job::TaskId subject;
};

using Situations = std::map<std::string, std::function<Situation()>>;

// While the gang gathers for its first generation.
void add_gathering(Situations& all) {
  all["new"] = [] { return Situation{small_gang(), job::kWorker1}; };
  all["asked"] = [] {
    Situation made{small_gang(), job::kWorker1};
    made.driver.step(Begin{});
    return made;
  };
  all["allocated"] = [] {
    Situation made{small_gang(), job::kWorker1};
    made.driver.step(Begin{});
    made.driver.allocated(job::kWorker1);
    return made;
  };
  all["registered"] = [] {
    Situation made{small_gang(), job::kWorker1};
    made.driver.step(Begin{});
    made.driver.reported(job::kWorker1);
    return made;
  };
  all["starting"] = [] {
    Situation made{small_gang(), job::kWorker1};
    made.driver.roll_call();
    return made;
  };
}

// While the gang runs, or one of it comes back.
void add_running(Situations& all) {
  all["running"] = [] { return Situation{running_gang(), job::kWorker1}; };
  all["silent"] = [] {
    Situation made{running_gang(), job::kWorker1};
    made.driver.session_lost(job::kWorker1);
    return made;
  };
  all["resumed"] = [] {
    Situation made{running_gang(), job::kWorker1};
    made.driver.step(Resumed{});
    return made;
  };
  all["idle"] = [] {
    Situation made{running_gang(), job::kWorker1};
    made.driver.exited(job::kWorker1, 0);
    return made;
  };
  all["gone"] = [] {
    Situation made{running_gang(), job::kWorker1};
    made.driver.exited(job::kWorker1, 0);
    made.driver.agent_ended(job::kWorker1);
    return made;
  };
  all["asked-again"] = [] {
    Situation made{running_gang(), job::kWorker1};
    made.driver.agent_ended(job::kWorker1);
    return made;
  };
  all["stopping"] = [] {
    Situation made{running_gang(job::RestartScope::kGang), job::kWorker1};
    made.driver.exited(job::kChief, 1);
    return made;
  };
  all["port-lost"] = [] {
    Situation made{running_gang(), job::kWorker1};
    made.driver.port_lost(job::kWorker1);
    return made;
  };
  all["last-try"] = [] {
    Situation made{running_gang(), job::kWorker1};
    made.driver.exited(job::kWorker1, 1);
    made.driver.started(job::kWorker1);
    return made;
  };
}

// While the job ends.
void add_ending(Situations& all) {
  all["ending"] = [] {
    Situation made{running_gang(), job::kWorker1};
    made.driver.step(StopRequested{"Ctrl-C", false});
    return made;
  };
  all["killed"] = [] {
    Situation made{running_gang(), job::kWorker1};
    made.driver.step(StopRequested{"Ctrl-C", false});
    made.driver.expire();
    return made;
  };
  all["last-ending"] = [] {
    Situation made{running_gang(), job::kWorker1};
    made.driver.step(StopRequested{"Ctrl-C", false});
    for (const auto& task : std::vector<job::TaskId>{
             job::kChief, {"worker", 0}, job::kPs, job::kEvaluator, job::kTensorboard}) {
      made.driver.agent_ended(task);
    }
    return made;
  };
  all["observer-in-grace"] = [] {
    Situation made{running_gang(), job::kEvaluator};
    succeed_tracked(made.driver);
    return made;
  };
  all["service-after"] = [] {
    Situation made{running_gang(), job::kPs};
    succeed_tracked(made.driver);
    return made;
  };
  all["sidecar"] = [] { return Situation{running_gang(), job::kTensorboard}; };
  all["sidecar-in-grace"] = [] {
    Situation made{running_gang(), job::kTensorboard};
    succeed_tracked(made.driver);
    made.driver.exited(job::kEvaluator, 0);
    return made;
  };
  all["finished"] = [] {
    Situation made{running_gang(), job::kWorker1};
    made.driver.step(StopRequested{"Ctrl-C", false});
    made.driver.all_gone();
    return made;
  };
}

const job::TaskId kSpare{"worker", 3};

// worker:0 to worker:2, of which two suffice, and the spare worker:3.
Driver elastic_gang() {
  job::JobSpec spec = job_of({elastic_type("worker", 3, 2, 1)});
  spec.restarts = at_once(2, job::RestartScope::kTask);
  Driver driver(spec);
  driver.run_all();
  return driver;
}

// Runs with worker:0 and worker:2; worker:1 and the spare are asked for.
Driver smaller_gang() {
  Driver driver = elastic_gang();
  driver.agent_ended(kSpare, false);
  driver.agent_ended(job::kWorker1);
  driver.expire();
  for (const int index : {0, 2}) driver.exited({"worker", index}, 143);
  for (const int index : {0, 2}) driver.started({"worker", index});
  return driver;
}

// Beside a gang, and where one of it may be missing.
void add_elastic(Situations& all) {
  all["beside-a-spare"] = [] { return Situation{elastic_gang(), job::kWorker1}; };
  all["spare"] = [] { return Situation{elastic_gang(), kSpare}; };
  all["spare-asked"] = [] {
    Situation made{elastic_gang(), kSpare};
    made.driver.agent_ended(kSpare, false);
    return made;
  };
  all["spare-allocated"] = [] {
    Situation made{elastic_gang(), kSpare};
    made.driver.agent_ended(kSpare, false);
    made.driver.allocated(kSpare);
    return made;
  };
  all["spare-silent"] = [] {
    Situation made{elastic_gang(), kSpare};
    made.driver.session_lost(kSpare);
    return made;
  };
  all["spare-stepping-forward"] = [] {
    Situation made{elastic_gang(), kSpare};
    made.driver.agent_ended(job::kWorker1);
    return made;
  };
  all["missing"] = [] {
    Situation made{elastic_gang(), job::kWorker1};
    made.driver.agent_ended(kSpare, false);
    made.driver.agent_ended(job::kWorker1);
    return made;
  };
  all["absent"] = [] { return Situation{smaller_gang(), job::kWorker1}; };
  all["absent-is-back"] = [] {
    Situation made{smaller_gang(), job::kWorker1};
    made.driver.reported(job::kWorker1);
    return made;
  };
  all["in-a-smaller-gang"] = [] { return Situation{smaller_gang(), {"worker", 0}}; };
  all["least-and-no-restart-left"] = [] {
    Situation made{smaller_gang(), {"worker", 0}};
    made.driver.exited({"worker", 0}, 1);
    made.driver.started({"worker", 0});
    return made;
  };
  all["dropped"] = [] {
    Situation made{elastic_gang(), job::kWorker1};
    for (int i = 0; i < 2; ++i) {
      made.driver.exited({"worker", 0}, 1);
      made.driver.started({"worker", 0});
    }
    made.driver.agent_ended(job::kWorker1);
    for (const int index : {0, 2}) made.driver.exited({"worker", index}, 143);
    return made;
  };
}

Situations situations() {
  Situations all;
  add_gathering(all);
  add_running(all);
  add_ending(all);
  add_elastic(all);
  return all;
}

struct Happening {
  std::size_t kind;  // which alternative of Event
  std::function<std::string(Driver&, const job::TaskId&)> happen;
};

template <typename T>
constexpr std::size_t kind_of() {
  return Event(T{}).index();
}

std::map<std::string, Happening> happenings() {
  using Id = job::TaskId;
  return {
      {"begin", {kind_of<Begin>(), [](Driver& d, const Id&) { return d.step(Begin{}); }}},
      {"cluster_waiting",
       {kind_of<ClusterWaiting>(),
        [](Driver& d, const Id&) { return d.step(ClusterWaiting{"the queue is full"}); }}},
      {"allocated",
       {kind_of<Allocated>(), [](Driver& d, const Id& id) { return d.allocated(id); }}},
      {"reported", {kind_of<Reported>(), [](Driver& d, const Id& id) { return d.reported(id); }}},
      {"reported_elsewhere",
       {kind_of<Reported>(),
        [](Driver& d, const Id& id) {
          return d.reported(id, {"elsewhere", 50'000});
        }}},
      {"started", {kind_of<Started>(), [](Driver& d, const Id& id) { return d.started(id); }}},
      {"exited_success",
       {kind_of<job::Exited>(), [](Driver& d, const Id& id) { return d.exited(id, 0); }}},
      {"exited_failure",
       {kind_of<job::Exited>(), [](Driver& d, const Id& id) { return d.exited(id, 1); }}},
      {"exited_port_lost",
       {kind_of<job::Exited>(), [](Driver& d, const Id& id) { return d.port_lost(id); }}},
      {"session_lost",
       {kind_of<SessionLost>(), [](Driver& d, const Id& id) { return d.session_lost(id); }}},
      {"reattached",
       {kind_of<Reattached>(), [](Driver& d, const Id& id) { return d.reattached(id); }}},
      {"agent_ended",
       {kind_of<job::AgentEnded>(), [](Driver& d, const Id& id) { return d.agent_ended(id); }}},
      {"agent_evicted",
       {kind_of<job::AgentEnded>(),
        [](Driver& d, const Id& id) { return d.agent_ended(id, false); }}},
      {"progress",
       {kind_of<Progress>(),
        [](Driver& d, const Id& id) {
          return d.step(Progress{id, d.gang().find(id)->attempt});
        }}},
      {"stop_requested",
       {kind_of<StopRequested>(),
        [](Driver& d, const Id&) {
          return d.step(StopRequested{"Ctrl-C", false});
        }}},
      {"cluster_gone",
       {kind_of<ClusterGone>(),
        [](Driver& d, const Id&) { return d.step(ClusterGone{"the cluster is gone"}); }}},
      {"resumed", {kind_of<Resumed>(), [](Driver& d, const Id&) { return d.step(Resumed{}); }}},
      {"time_passed", {kind_of<TimePassed>(), [](Driver& d, const Id&) { return d.expire(); }}},
  };
}

using Key = std::pair<std::string, std::string>;

// "situation event: phase, job state: decisions"
std::map<Key, std::string> rows() {
  std::map<Key, std::string> rows;
  std::istringstream lines{std::string(kTableRows) + std::string(kElasticTableRows)};
  for (std::string line; std::getline(lines, line);) {
    if (line.empty()) continue;
    std::istringstream words(line);
    Key key;
    words >> key.first >> key.second;
    std::string rest;
    std::getline(words >> std::ws, rest);
    EXPECT_TRUE(rows.emplace(key, rest).second) << "twice: " << line;
  }
  return rows;
}

TEST(GangTableTest, EverySituationAndEventHasItsRow) {
  auto expected = rows();
  std::set<std::pair<Phase, std::size_t>> walked;
  std::string actual_rows;
  for (const auto& [situation, make] : situations()) {
    for (const auto& [name, happening] : happenings()) {
      Situation made = make();
      made.driver.pass(std::chrono::milliseconds(10));
      // Before it begins, a gang has no phases yet.
      if (situation != "new") walked.emplace(made.driver.phase(made.subject), happening.kind);
      const std::string decided = happening.happen(made.driver, made.subject);
      const auto phase = static_cast<std::size_t>(made.driver.phase(made.subject));
      const std::string actual =
          base::format("{} {} {}", kPhases.at(phase), job::to_string(made.driver.gang().state()),
                       decided.empty() ? "-" : decided);
      actual_rows += base::format("{} {} {}\n", situation, name, actual);
      const auto row = expected.extract(Key(situation, name));
      EXPECT_FALSE(row.empty()) << "no row: " << situation << " " << name << " " << actual;
      EXPECT_EQ(actual, row.empty() ? actual : row.mapped()) << situation << " " << name;
    }
  }
  for (const auto& [key, rest] : expected) {
    ADD_FAILURE() << "a row of nothing: " << key.first << " " << key.second;
  }
  EXPECT_EQ(walked.size(), kPhases.size() * std::variant_size_v<Event>);
  if (HasFailure()) std::fputs(actual_rows.c_str(), stdout);
}

// What is of another attempt than the current one is late: wherever it comes, nothing happens.
TEST(GangTableTest, EventsOfOtherAttemptsAndUnknownTasksChangeNothing) {
  for (const auto& [situation, make] : situations()) {
    for (const int shift : {-1, 1, 7}) {
      for (const bool unknown : {false, true}) {
        Situation made = make();
        const Task task = *made.driver.gang().find(made.subject);
        const job::TaskId stranger{"stranger", 0};
        const job::TaskId id = unknown ? stranger : made.subject;
        const int attempt = (shift < 0 ? task.allocated_attempt : task.attempt) + shift;
        const base::Instant now = made.driver.now();
        made.driver.step(Progress{stranger, 1});  // the time of the last step is state too
        const Gang before = made.driver.gang();
        for (const Event& event :
             std::vector<Event>{Allocated{id, attempt, "late"}, Reported{id, attempt, {"late", 1}},
                                Started{id, attempt}, job::Exited{id, attempt, {}, now},
                                SessionLost{id, attempt}, Reattached{id, attempt},
                                job::AgentEnded{id, attempt, "late", now}, Progress{id, attempt}}) {
          EXPECT_EQ(made.driver.step(event), "") << situation << " " << name_of(event);
          EXPECT_TRUE(made.driver.gang() == before) << situation << " " << name_of(event);
        }
      }
    }
  }
}

}  // namespace
}  // namespace gangrun::gang
