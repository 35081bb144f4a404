#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "gang/gang_driver.h"
#include "job/test_tasks.h"

// Restarts of what failed for want of another task, which its place had taken away.
namespace gangrun::gang {
namespace {

using job::kChief;
using job::kEvaluator;
using job::kPs;
using job::kTensorboard;
using job::kWorker0;
using job::kWorker1;
using std::chrono::minutes;
using std::chrono::seconds;

const job::TaskId kWorker2{"worker", 2};

job::JobSpec workers(int count, int restarts, job::RestartScope scope = job::RestartScope::kTask) {
  job::JobSpec spec = job_of({task_type("worker", count)});
  spec.restarts = at_once(restarts, scope);
  return spec;
}

job::JobSpec whole_family() {
  job::JobSpec spec =
      job_of({task_type("chief"), task_type("worker"), task_type("ps"),
              task_type("evaluator", 1, minutes(2)), task_type("tensorboard", 1, minutes(1))});
  spec.restarts = at_once(1, job::RestartScope::kTask);
  return spec;
}

std::string exited_for(Driver& driver, const job::TaskId& task, job::Reason reason) {
  job::ExitReport report;
  report.why.reason = reason;
  return driver.step(job::Exited{task, driver.gang().find(task)->attempt, report, driver.now()});
}

TEST(GangWithoutALostTask, RestartsTogetherAndBlamesNobody) {
  Driver driver = running(workers(3, 0));
  EXPECT_EQ(driver.agent_ended(kWorker1, false), "warn; allocate w1#2");
  EXPECT_EQ(driver.phase(kWorker0), Phase::kRunning);
  EXPECT_EQ(driver.exited(kWorker0, 1), "warn; stop w2");
  EXPECT_EQ(driver.warning(),
            "worker:0 on host-worker exited with status 1; all tasks restart, not counted, because "
            "worker:1 was lost before");
  EXPECT_EQ(driver.exited(kWorker2, 1), "");
  EXPECT_EQ(driver.gang().state(), job::JobState::kRestarting);
  driver.allocated(kWorker1);
  EXPECT_EQ(driver.reported(kWorker1), "publish 2; start@2 w0#2 w1#2 w2#2");
  EXPECT_EQ(driver.gang().restarts_used(), 0);
  // In the next generation a failure is one's own again.
  for (const job::TaskId& task : {kWorker2, kWorker0, kWorker1}) driver.started(task);
  EXPECT_EQ(driver.exited(kWorker0, 1), "end-at-once w0; end w1#2 w2");
  driver.all_gone();
  EXPECT_EQ(driver.cause(), "worker:0 on host-worker exited with status 1");
}

TEST(GangWithoutALostTask, DoesTheSameInTheOtherScopes) {
  for (const auto scope : {job::RestartScope::kGang, job::RestartScope::kNone}) {
    Driver driver = running(workers(3, 0, scope));
    EXPECT_EQ(driver.agent_ended(kWorker1, false), "warn; stop w0; allocate w1#2; stop w2");
    EXPECT_EQ(driver.exited(kWorker0, 1), "");
    EXPECT_EQ(driver.exited(kWorker2, 1), "");
    EXPECT_EQ(driver.reported(kWorker1), "publish 2; start@2 w0#2 w1#2 w2#2");
    EXPECT_EQ(driver.gang().restarts_used(), 0);
  }
}

TEST(GangWithoutALostTask, MayHaveLostSeveral) {
  Driver driver = running(workers(3, 0));
  driver.agent_ended(kWorker2, false);
  EXPECT_EQ(driver.agent_ended(kWorker1, false), "warn; allocate w1#2");
  EXPECT_EQ(driver.exited(kWorker0, 1), "warn");
  EXPECT_EQ(driver.reported(kWorker1), "");
  EXPECT_EQ(driver.reported(kWorker2), "publish 2; start@2 w0#2 w1#2 w2#2");
}

// A silent task may be heard of again: as long as that is possible, nobody lacks it.
TEST(GangWithoutALostTask, LacksASilentOneOnceItsLeaseHasEnded) {
  Driver driver = running(workers(2, 0));
  driver.session_lost(kWorker1);
  Driver early = driver;
  EXPECT_EQ(early.exited(kWorker0, 1), "end-at-once w0; end w1");
  EXPECT_EQ(driver.expire(), "kill w1; warn; allocate w1#2");
  EXPECT_EQ(driver.exited(kWorker0, 1), "warn");
  EXPECT_EQ(driver.gang().restarts_used(), 0);
}

TEST(GangWithoutALostTask, StillHasFailuresOfATasksOwn) {
  for (const auto reason :
       {job::Reason::kOutOfMemory, job::Reason::kLogLimit, job::Reason::kCouldNotStart}) {
    Driver driver = running(workers(2, 0));
    driver.agent_ended(kWorker1, false);
    EXPECT_EQ(exited_for(driver, kWorker0, reason), "end-at-once w0; end w1#2");
    driver.all_gone();
    EXPECT_EQ(driver.reason(), reason);
  }
  Driver killed = running(workers(2, 0));
  killed.agent_ended(kWorker1, false);
  EXPECT_EQ(exited_for(killed, kWorker0, job::Reason::kSignal), "warn");
}

TEST(GangWithoutALostTask, IsWholeWhenThatOneRunsAgain) {
  Driver driver = running(workers(2, 1));
  driver.agent_ended(kWorker1, false);
  EXPECT_EQ(driver.reported(kWorker1), "start@1 w1#2");
  Driver early = driver;
  EXPECT_EQ(early.exited(kWorker0, 1), "warn; stop w1#2");
  EXPECT_EQ(early.gang().restarts_used(), 0);
  driver.started(kWorker1);
  EXPECT_EQ(driver.exited(kWorker0, 1), "warn; start@1 w0#2");
  EXPECT_EQ(driver.gang().restarts_used(), 1);
}

// It runs again at once where it was, but not for long.
TEST(GangWithoutALostTask, LacksWhoeverLeavesBeforeItsPreemption) {
  Driver driver = running(workers(2, 0));
  EXPECT_EQ(exited_for(driver, kWorker1, job::Reason::kPreempted), "warn; start@1 w1#2");
  driver.started(kWorker1);
  Driver early = driver;
  EXPECT_EQ(early.exited(kWorker0, 1), "warn; stop w1#2");
  EXPECT_EQ(early.gang().restarts_used(), 0);
  EXPECT_EQ(driver.agent_ended(kWorker1, false), "warn; allocate w1#3");
  EXPECT_EQ(driver.reported(kWorker1), "start@1 w1#3");
  driver.started(kWorker1);
  EXPECT_EQ(driver.exited(kWorker0, 1), "end-at-once w0; end w1#3");
}

// Nobody takes it away: it is back at once.
TEST(GangWithoutALostTask, LacksNobodyWhoseAgentStays) {
  Driver driver = running(workers(2, 0));
  EXPECT_EQ(exited_for(driver, kWorker1, job::Reason::kMasterLost), "warn; start@1 w1#2");
  EXPECT_EQ(driver.exited(kWorker0, 1), "end-at-once w0; end w1");
}

TEST(GangWithoutALostTask, LacksNobodyWhoseOwnFaultItWas) {
  Driver driver = running(workers(2, 2));
  EXPECT_EQ(driver.agent_ended(kWorker1), "warn; allocate w1#2");
  EXPECT_EQ(driver.exited(kWorker0, 1), "warn; start@1 w0#2");
  EXPECT_EQ(driver.gang().restarts_used(), 2);
}

// Its work is done.
TEST(GangWithoutALostTask, LacksNobodyWhoHadSucceeded) {
  Driver driver = running(workers(3, 1));
  EXPECT_EQ(driver.exited(kWorker1, 0), "");
  EXPECT_EQ(driver.agent_ended(kWorker1, false), "");
  EXPECT_EQ(driver.exited(kWorker0, 1), "warn; start@1 w0#2");
  EXPECT_EQ(driver.gang().restarts_used(), 1);
}

// A lost task that comes back and fails has failed by itself.
TEST(GangWithoutALostTask, JudgesThatOneAsAnyOther) {
  Driver driver = running(workers(2, 0));
  driver.agent_ended(kWorker1, false);
  driver.reported(kWorker1);
  EXPECT_EQ(driver.exited(kWorker1, 1), "end w0; end-at-once w1#2");
  Driver again = running(workers(3, 1));
  again.agent_ended(kWorker1, false);
  again.reported(kWorker1);
  EXPECT_EQ(again.exited(kWorker1, 1), "warn; start@1 w1#3");
  EXPECT_EQ(again.exited(kWorker0, 1), "end-at-once w0; end w1#2 w2");
}

TEST(GangWithoutALostTask, NeedsServicesAndNoObserversOrSidecars) {
  Driver service = running(whole_family());
  EXPECT_EQ(service.agent_ended(kPs, false), "warn; allocate p0#2");
  Driver observer = service;
  Driver sidecar = service;
  EXPECT_EQ(service.exited(kWorker0, 1), "warn; stop c0 e0");
  EXPECT_EQ(service.gang().restarts_used(), 0);
  // An observer may need the others, and would fail again and again until they are back.
  EXPECT_EQ(observer.exited(kEvaluator, 1), "warn; stop c0 w0");
  EXPECT_EQ(observer.gang().restarts_used(), 0);
  EXPECT_EQ(sidecar.exited(kTensorboard, 1), "warn");
  EXPECT_EQ(sidecar.phase(kChief), Phase::kRunning);
  for (const job::TaskId& lost : {kEvaluator, kTensorboard}) {
    Driver driver = running(whole_family());
    driver.agent_ended(lost, false);
    EXPECT_EQ(driver.exited(kWorker0, 1), "warn; start@1 w0#2") << job::to_string(lost);
    EXPECT_EQ(driver.gang().restarts_used(), 1);
  }
}

TEST(GangWithoutALostTask, OfAnElasticTypeDoesNotWaitToRestart) {
  job::JobSpec spec = job_of({elastic_type("worker", 3, 2)});
  spec.timeouts.shrink = seconds(10);
  Driver driver = running(spec);
  EXPECT_EQ(driver.agent_ended(kWorker1, false), "warn; allocate w1#2");
  EXPECT_EQ(driver.exited(kWorker0, 1), "warn; stop w2");
  EXPECT_EQ(driver.exited(kWorker2, 143), "");
  EXPECT_EQ(driver.expire(), "warn; publish 2; start@2 w0#2 w2#2");
  EXPECT_EQ(driver.gang().restarts_used(), 0);
}

// The loss has used it up; whoever fails for want of it needs no other.
TEST(GangWithoutALostTask, GoesOnWithTheLastRestartThatIsNotCounted) {
  Gang::Limits limits;
  limits.max_uncounted_restarts = 1;
  Driver driver = running(workers(2, 0), limits);
  EXPECT_EQ(driver.agent_ended(kWorker1, false), "warn; allocate w1#2");
  EXPECT_EQ(driver.exited(kWorker0, 1), "warn");
  EXPECT_EQ(driver.reported(kWorker1), "publish 2; start@2 w0#2 w1#2");
  driver.started(kWorker0);
  driver.started(kWorker1);
  EXPECT_EQ(driver.agent_ended(kWorker1, false), "end w0");
}

TEST(GangWithoutALostTask, IsKnownToTheNextMaster) {
  Driver driver = running(workers(3, 0));
  driver.agent_ended(kWorker1, false);
  EXPECT_EQ(driver.step(Resumed{}), "end-at-once w1#2; allocate w1#3");
  driver.reattached(kWorker0);
  EXPECT_EQ(driver.exited(kWorker0, 1), "warn; stop w2");
}

TEST(GangWithoutALostTask, StopsWhenItIsAsked) {
  Driver driver = running(workers(2, 0));
  driver.agent_ended(kWorker1, false);
  EXPECT_EQ(driver.step(StopRequested{"Ctrl-C", false}), "end w0 w1#2");
  EXPECT_EQ(driver.exited(kWorker0, 1), "");
  driver.all_gone();
  EXPECT_EQ(driver.reason(), job::Reason::kStopped);
}

// Nobody waits for news that may come. When they do, the cause is the loss.
TEST(GangWithoutALostTask, ThatHearsOfItTooLateNamesTheLoss) {
  Driver driver = running(workers(2, 0));
  const base::Instant lost_at = driver.now();
  driver.pass(seconds(1));
  EXPECT_EQ(driver.exited(kWorker0, 1), "end-at-once w0; end w1");
  driver.step(job::AgentEnded{kWorker1, 1, {.reason = job::Reason::kEvicted}, lost_at});
  EXPECT_EQ(driver.agent_ended(kWorker0), "finish failed");
  EXPECT_EQ(driver.reason(), job::Reason::kEvicted);
}

}  // namespace
}  // namespace gangrun::gang
