#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "gang/gang_driver.h"
#include "job/test_tasks.h"

// For the tests of this room: where a gang and one of its tasks may stand, and all that may happen
// to the task there. Every phase and every event is among them; gang_table_test.cc sees to that.
namespace gangrun::gang {

inline Driver small_gang(job::RestartScope scope = job::RestartScope::kTask) {
  const std::chrono::minutes grace(2);
  job::JobSpec spec =
      job_of({task_type("chief"), task_type("worker", 2), task_type("ps"),
              task_type("evaluator", 1, grace), task_type("tensorboard", 1, grace)});
  spec.restarts = at_once(1, scope);
  return Driver(spec);
}

inline Driver running_gang(job::RestartScope scope = job::RestartScope::kTask) {
  Driver driver = small_gang(scope);
  driver.run_all();
  return driver;
}

inline void succeed_tracked(Driver& driver) {
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
inline void add_gathering(Situations& all) {
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
inline void add_running(Situations& all) {
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
inline void add_ending(Situations& all) {
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

inline const job::TaskId kSpare{"worker", 3};

// worker:0 to worker:2, of which two suffice, and the spare worker:3.
inline Driver elastic_gang() {
  job::JobSpec spec = job_of({elastic_type("worker", 3, 2, 1)});
  spec.restarts = at_once(2, job::RestartScope::kTask);
  Driver driver(spec);
  driver.run_all();
  return driver;
}

// Runs with worker:0 and worker:2; worker:1 and the spare are requested.
inline Driver smaller_gang() {
  Driver driver = elastic_gang();
  driver.agent_ended(kSpare, false);
  driver.agent_ended(job::kWorker1);
  driver.expire();
  for (const int index : {0, 2}) driver.exited({"worker", index}, 143);
  for (const int index : {0, 2}) driver.started({"worker", index});
  return driver;
}

// Beside a gang, and where one of it may be missing.
inline void add_elastic(Situations& all) {
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
  all["last-to-stop"] = [] {
    Situation made{elastic_gang(), {"worker", 2}};
    made.driver.agent_ended(job::kWorker1);
    made.driver.exited({"worker", 0}, 143);
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

inline Situations situations() {
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

inline std::map<std::string, Happening> happenings() {
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
      {"host_silent",
       {kind_of<HostSilent>(),
        [](Driver& d, const Id& id) {
          return d.step(HostSilent{"h9", {id}});
        }}},
      {"resumed", {kind_of<Resumed>(), [](Driver& d, const Id&) { return d.step(Resumed{}); }}},
      {"time_passed", {kind_of<TimePassed>(), [](Driver& d, const Id&) { return d.expire(); }}},
  };
}

}  // namespace gangrun::gang
