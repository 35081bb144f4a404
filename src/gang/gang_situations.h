#pragma once

#include <functional>
#include <map>
#include <string>

#include "gang/gang_driver.h"
#include "job/test_tasks.h"

// For the tests of this room: where a gang and one of its tasks may stand, and all that may happen
// to the task there. Every phase and every event is among them; gang_table_test.cc sees to that.
namespace gangrun::gang {

inline Driver small_gang(job::RestartScope scope) {
  const std::chrono::minutes grace(2);
  job::JobSpec spec =
      job_of({task_type("chief"), task_type("worker", 2), task_type("ps"),
              task_type("evaluator", 1, grace), task_type("tensorboard", 1, grace)});
  spec.restarts = at_once(1, scope);
  return Driver(spec);
}
inline Driver small_gang() { return small_gang(job::RestartScope::kTask); }

inline Driver running_gang(job::RestartScope scope) {
  Driver driver = small_gang(scope);
  driver.run_all();
  return driver;
}
inline Driver running_gang() { return running_gang(job::RestartScope::kTask); }
inline Driver gang_that_restarts_together() { return running_gang(job::RestartScope::kGang); }

inline void succeed_tracked(Driver& driver) {
  driver.exited(job::kChief, 0);
  driver.exited({"worker", 0}, 0);
  driver.exited(job::kWorker1, 0);
}

inline void end_all_but_worker1(Driver& driver) {
  driver.step(StopRequested{"Ctrl-C", false});
  for (const job::TaskId& task :
       {job::kChief, job::kWorker0, job::kPs, job::kEvaluator, job::kTensorboard}) {
    driver.agent_ended(task);
  }
}

// A gang driven to where something may happen to one of its tasks.
struct Situation {
  Driver driver;
  job::TaskId subject;
};

using Situations = std::map<std::string, std::function<Situation()>>;

// The gang that `begin` makes, driven on by `drive`.
template <typename Drive>
std::function<Situation()> made_of(Driver (*begin)(), const job::TaskId& subject, Drive drive) {
  return [=] {
    Situation made{begin(), subject};
    drive(made.driver);
    return made;
  };
}
inline std::function<Situation()> made_of(Driver (*begin)(), const job::TaskId& subject) {
  return [=] { return Situation{begin(), subject}; };
}

// While the gang gathers for its first generation.
inline void add_gathering(Situations& all) {
  using job::kWorker1;
  all["new"] = made_of(small_gang, kWorker1);
  all["asked"] = made_of(small_gang, kWorker1, [](Driver& d) { d.step(Begin{}); });
  all["allocated"] = made_of(small_gang, kWorker1, [](Driver& d) {
    d.step(Begin{});
    d.allocated(kWorker1);
  });
  all["registered"] = made_of(small_gang, kWorker1, [](Driver& d) {
    d.step(Begin{});
    d.reported(kWorker1);
  });
  all["starting"] = made_of(small_gang, kWorker1, [](Driver& d) { d.roll_call(); });
}

// While the gang runs, or one of it comes back.
inline void add_running(Situations& all) {
  using job::kWorker1;
  all["running"] = made_of(running_gang, kWorker1);
  all["silent"] = made_of(running_gang, kWorker1, [](Driver& d) { d.session_lost(kWorker1); });
  all["resumed"] = made_of(running_gang, kWorker1, [](Driver& d) { d.step(Resumed{}); });
  all["idle"] = made_of(running_gang, kWorker1, [](Driver& d) { d.exited(kWorker1, 0); });
  all["gone"] = made_of(running_gang, kWorker1, [](Driver& d) {
    d.exited(kWorker1, 0);
    d.agent_ended(kWorker1);
  });
  all["asked-again"] = made_of(running_gang, kWorker1, [](Driver& d) { d.agent_ended(kWorker1); });
  all["stopping"] =
      made_of(gang_that_restarts_together, kWorker1, [](Driver& d) { d.exited(job::kChief, 1); });
  all["port-lost"] = made_of(running_gang, kWorker1, [](Driver& d) { d.port_lost(kWorker1); });
  all["lacking"] =
      made_of(running_gang, kWorker1, [](Driver& d) { d.agent_ended(job::kWorker0, false); });
  all["last-try"] = made_of(running_gang, kWorker1, [](Driver& d) {
    d.exited(kWorker1, 1);
    d.started(kWorker1);
  });
}

// While the job ends.
inline void add_ending(Situations& all) {
  using job::kWorker1;
  const auto stop = [](Driver& d) { d.step(StopRequested{"Ctrl-C", false}); };
  all["ending"] = made_of(running_gang, kWorker1, stop);
  all["killed"] = made_of(running_gang, kWorker1, [stop](Driver& d) {
    stop(d);
    d.expire();
  });
  all["last-ending"] = made_of(running_gang, kWorker1, end_all_but_worker1);
  all["observer-in-grace"] = made_of(running_gang, job::kEvaluator, succeed_tracked);
  all["service-after"] = made_of(running_gang, job::kPs, succeed_tracked);
  all["sidecar"] = made_of(running_gang, job::kTensorboard);
  all["sidecar-in-grace"] = made_of(running_gang, job::kTensorboard, [](Driver& d) {
    succeed_tracked(d);
    d.exited(job::kEvaluator, 0);
  });
  all["finished"] = made_of(running_gang, kWorker1, [stop](Driver& d) {
    stop(d);
    d.all_gone();
  });
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

inline void fail_and_restart_worker0(Driver& driver) {
  driver.exited(job::kWorker0, 1);
  driver.started(job::kWorker0);
}

// Beside a gang, and where one of it may be missing.
inline void add_elastic(Situations& all) {
  using job::kWorker0;
  using job::kWorker1;
  all["beside-a-spare"] = made_of(elastic_gang, kWorker1);
  all["spare"] = made_of(elastic_gang, kSpare);
  all["spare-asked"] =
      made_of(elastic_gang, kSpare, [](Driver& d) { d.agent_ended(kSpare, false); });
  all["spare-allocated"] = made_of(elastic_gang, kSpare, [](Driver& d) {
    d.agent_ended(kSpare, false);
    d.allocated(kSpare);
  });
  all["spare-silent"] = made_of(elastic_gang, kSpare, [](Driver& d) { d.session_lost(kSpare); });
  all["spare-stepping-forward"] =
      made_of(elastic_gang, kSpare, [](Driver& d) { d.agent_ended(kWorker1); });
  all["last-to-stop"] = made_of(elastic_gang, {"worker", 2}, [](Driver& d) {
    d.agent_ended(kWorker1);
    d.exited(kWorker0, 143);
  });
  all["missing"] = made_of(elastic_gang, kWorker1, [](Driver& d) {
    d.agent_ended(kSpare, false);
    d.agent_ended(kWorker1);
  });
  all["absent"] = made_of(smaller_gang, kWorker1);
  all["absent-is-back"] = made_of(smaller_gang, kWorker1, [](Driver& d) { d.reported(kWorker1); });
  all["in-a-smaller-gang"] = made_of(smaller_gang, kWorker0);
  all["least-and-no-restart-left"] = made_of(smaller_gang, kWorker0, fail_and_restart_worker0);
  all["dropped"] = made_of(elastic_gang, kWorker1, [](Driver& d) {
    for (int i = 0; i < 2; ++i) fail_and_restart_worker0(d);
    d.agent_ended(kWorker1);
    for (const int index : {0, 2}) d.exited({"worker", index}, 143);
  });
}

inline Situations situations() {
  Situations all;
  add_gathering(all);
  add_running(all);
  add_ending(all);
  add_elastic(all);
  return all;
}

using Happening = std::function<std::string(Driver&, const job::TaskId&)>;

inline std::map<std::string, Happening> happenings() {
  using Id = job::TaskId;
  // The same whatever the task is.
  const auto told = [](const Event& event) {
    return [event](Driver& d, const Id&) { return d.step(event); };
  };
  return {
      {"begin", told(Begin{})},
      {"cluster_waiting", told(ClusterWaiting{"the queue is full"})},
      {"allocated", &Driver::allocated},
      {"reported", [](Driver& d, const Id& id) { return d.reported(id); }},
      {"reported_elsewhere",
       [](Driver& d, const Id& id) {
         return d.reported(id, {"elsewhere", 50'000});
       }},
      {"started", &Driver::started},
      {"exited_success", [](Driver& d, const Id& id) { return d.exited(id, 0); }},
      {"exited_failure", [](Driver& d, const Id& id) { return d.exited(id, 1); }},
      {"exited_port_lost", &Driver::port_lost},
      {"session_lost", &Driver::session_lost},
      {"reattached", &Driver::reattached},
      {"agent_ended", [](Driver& d, const Id& id) { return d.agent_ended(id); }},
      {"agent_evicted", [](Driver& d, const Id& id) { return d.agent_ended(id, false); }},
      {"progress",
       [](Driver& d, const Id& id) {
         return d.step(Progress{id, d.gang().find(id)->attempt});
       }},
      {"stop_requested", told(StopRequested{"Ctrl-C", false})},
      {"cluster_gone", told(ClusterGone{"the cluster is gone"})},
      {"host_silent",
       [](Driver& d, const Id& id) {
         return d.step(HostSilent{"h9", {id}});
       }},
      {"resumed", told(Resumed{})},
      {"time_passed", [](Driver& d, const Id&) { return d.expire(); }},
  };
}

}  // namespace gangrun::gang
