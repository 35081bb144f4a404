#include <gtest/gtest.h>

#include "gang/gang_driver.h"

// How long what has failed waits before it starts again.
namespace gangrun::gang {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

const job::TaskId kOne{"worker", 0};
const job::TaskId kTwo{"worker", 1};

Driver running_two(int max, job::RestartScope scope, job::TaskSpec type = task_type("worker", 2)) {
  job::JobSpec spec = job_of({std::move(type)});
  spec.restarts = {max, scope, seconds(1), seconds(5)};
  Driver driver(spec);
  driver.step(Begin{});
  for (const job::TaskId& task : {kOne, kTwo}) driver.allocated(task);
  for (const job::TaskId& task : {kOne, kTwo}) driver.reported(task);
  for (const job::TaskId& task : {kOne, kTwo}) driver.started(task);
  return driver;
}

base::Duration wait_of(Driver& driver) { return *driver.gang().next_deadline() - driver.now(); }

TEST(GangPauses, GrowUpToALimitForEachTaskAndBeginAnewAfterALongRun) {
  Driver driver = running_two(100, job::RestartScope::kTask);
  int attempt = 1;
  for (const int pause : {1, 2, 4, 5, 5}) {
    EXPECT_EQ(driver.exited(kOne, 1), "warn");
    EXPECT_EQ(wait_of(driver), seconds(pause));
    EXPECT_EQ(driver.expire(), base::format("start@1 w0#{}", ++attempt));
    driver.started(kOne);
  }
  EXPECT_EQ(driver.exited(kTwo, 1), "warn");
  EXPECT_EQ(wait_of(driver), seconds(1));
  EXPECT_EQ(driver.expire(), "start@1 w1#2");
  driver.pass(seconds(6));
  EXPECT_EQ(driver.exited(kOne, 1), "warn");
  EXPECT_EQ(wait_of(driver), seconds(1));
}

TEST(GangPauses, AreThoseOfAllWithScopeGang) {
  Driver driver = running_two(100, job::RestartScope::kGang);
  int generation = 1;
  for (const int pause : {1, 2, 4, 5, 5}) {
    driver.exited(generation % 2 == 0 ? kTwo : kOne, 1);
    EXPECT_EQ(driver.exited(generation % 2 == 0 ? kOne : kTwo, 143), "");
    EXPECT_EQ(wait_of(driver), seconds(pause));
    EXPECT_EQ(driver.gang().waiting_for(driver.now()),
              base::format("the pause before the restart; limit in {}.0 s", pause));
    ++generation;
    EXPECT_EQ(driver.expire(), base::format("publish {0}; start@{0} w0#{0} w1#{0}", generation));
    driver.started(kOne);
    driver.started(kTwo);
  }
}

TEST(GangPauses, AreNoneForWhatIsNotTheTasksFault) {
  Driver driver = running_two(1, job::RestartScope::kTask);
  job::ExitReport report;
  report.why.reason = job::Reason::kPreempted;
  EXPECT_EQ(driver.step(job::Exited{kOne, 1, report, driver.now()}), "warn; start@1 w0#2");
  EXPECT_EQ(driver.step(job::AgentEnded{kTwo, 1, {.reason = job::Reason::kLostNode}, driver.now()}),
            "warn; allocate w1#2");
}

TEST(GangPauses, AnAgentThatEndsIsReplacedAfterIt) {
  Driver driver = running_two(5, job::RestartScope::kTask);
  EXPECT_EQ(
      driver.step(job::AgentEnded{kOne, 1, {.reason = job::Reason::kAgentEnded}, driver.now()}),
      "warn");
  EXPECT_EQ(wait_of(driver), seconds(1));
  EXPECT_EQ(driver.gang().waiting_for(driver.now()),
            "the pause before the restart of worker:0; limit in 1.0 s");
  EXPECT_EQ(driver.expire(), "allocate w0#2");
}

TEST(GangPauses, ATaskWhoseAgentEndsMeanwhileComesBackAllTheSame) {
  Driver driver = running_two(5, job::RestartScope::kTask);
  EXPECT_EQ(driver.exited(kOne, 1), "warn");
  EXPECT_EQ(driver.step(job::AgentEnded{kOne, 1, {.reason = job::Reason::kLostNode}, driver.now()}),
            "");
  EXPECT_EQ(driver.expire(), "allocate w0#2");
}

TEST(GangPauses, ASparesPlaceIsTakenWithoutOne) {
  Driver driver = running_two(5, job::RestartScope::kTask, elastic_type("worker", 2, 2, 1));
  const job::TaskId spare{"worker", 2};
  driver.allocated(spare);
  driver.reported(spare);
  driver.step(job::AgentEnded{kOne, 1, {.reason = job::Reason::kAgentEnded}, driver.now()});
  EXPECT_EQ(driver.exited(kTwo, 143), "warn; publish 2; start@2 w1#2 w2");
}

TEST(GangPauses, EndWithTheJob) {
  Driver driver = running_two(5, job::RestartScope::kTask);
  driver.step(job::AgentEnded{kOne, 1, {.reason = job::Reason::kAgentEnded}, driver.now()});
  EXPECT_EQ(driver.exited(kTwo, 1), "warn");
  EXPECT_EQ(driver.step(StopRequested{"ana", false}), "end-at-once w1");
  EXPECT_EQ(
      driver.step(job::AgentEnded{kTwo, 1, {.reason = job::Reason::kAgentEnded}, driver.now()}),
      "finish killed");
}

TEST(GangPauses, AnObserverLooksAtTheEndAtOnce) {
  const job::TaskId observer{"evaluator", 0};
  const job::TaskId only{"worker", 0};
  job::JobSpec spec = job_of({task_type("worker"), task_type("evaluator", 1, minutes(1))});
  spec.restarts = {5, job::RestartScope::kTask, seconds(1), seconds(5)};
  Driver driver(spec);
  driver.step(Begin{});
  for (const job::TaskId& task : {only, observer}) driver.allocated(task);
  for (const job::TaskId& task : {only, observer}) driver.reported(task);
  for (const job::TaskId& task : {only, observer}) driver.started(task);
  EXPECT_EQ(driver.exited(observer, 1), "warn");
  EXPECT_EQ(driver.exited(only, 0), "start@1 e0#2");
  driver.started(observer);
  driver.exited(observer, 0);
  EXPECT_EQ(driver.gang().state(), job::JobState::kStopping);
}

}  // namespace
}  // namespace gangrun::gang
