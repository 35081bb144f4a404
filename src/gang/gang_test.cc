#include "gang/gang.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "gang/gang_driver.h"
#include "job/test_tasks.h"

// How a gang gathers, starts and comes back. How it ends is in gang_end_test.cc.
namespace gangrun::gang {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

job::JobSpec two_workers(int max, job::RestartScope scope) {
  job::JobSpec spec = job_of({task_type("worker", 2)});
  spec.restarts = at_once(max, scope);
  return spec;
}

TEST(GangTest, StartsAllWhenTheLastHasReported) {
  Driver driver(job_of({task_type("worker", 2), task_type("ps"), task_type("tensorboard")}));
  EXPECT_EQ(driver.step(Begin{}), "allocate w0 w1 p0 t0");
  EXPECT_EQ(driver.gang().state(), job::JobState::kAllocating);
  for (const auto& task : {job::kWorker0, job::kWorker1, job::kPs})
    EXPECT_EQ(driver.allocated(task), "");
  EXPECT_EQ(driver.gang().state(), job::JobState::kRollCall);  // a sidecar is not awaited
  EXPECT_EQ(driver.reported(job::kPs), "");
  EXPECT_EQ(driver.reported(job::kWorker1), "");
  EXPECT_EQ(driver.reported(job::kWorker0), "publish 1; start@1 w0 w1 p0");
  EXPECT_EQ(driver.gang().state(), job::JobState::kRunning);
  const job::ClusterSpec& spec = driver.gang().cluster_spec();
  EXPECT_EQ(spec.generation, 1);
  EXPECT_EQ(spec.tasks.size(), 2U);  // a sidecar has no address
  EXPECT_EQ(*spec.find(job::kWorker1), Driver::address_of(job::kWorker1));
  driver.allocated(job::kTensorboard);
  EXPECT_EQ(driver.reported(job::kTensorboard), "start@1 t0");
}

TEST(GangTest, ReportMayOutrunTheNewsOfThePlace) {
  Driver driver(job_of({task_type("worker")}));
  driver.step(Begin{});
  EXPECT_EQ(driver.reported(job::kWorker0), "publish 1; start@1 w0");
  EXPECT_EQ(driver.allocated(job::kWorker0), "");
  EXPECT_EQ(driver.phase(job::kWorker0), Phase::kStarting);
  EXPECT_EQ(driver.gang().find(job::kWorker0)->host, "host-worker");
}

TEST(GangTest, FailedTaskIsRestartedInItsPlace) {
  Driver driver = running(two_workers(2, job::RestartScope::kTask));
  EXPECT_EQ(driver.exited(job::kWorker1, 3), "warn; start@1 w1#2");
  EXPECT_EQ(driver.warning(), "worker:1 on host-worker exited with status 3; restart 1 of 2");
  EXPECT_EQ(driver.phase(job::kWorker0), Phase::kRunning);
  EXPECT_EQ(driver.gang().state(), job::JobState::kRunning);
  driver.started(job::kWorker1);
  EXPECT_EQ(driver.exited(job::kWorker1, 4), "warn; start@1 w1#3");
  EXPECT_EQ(driver.gang().restarts_used(), 2);
  driver.started(job::kWorker1);
  EXPECT_EQ(driver.exited(job::kWorker1, 5), "end w0; end-at-once w1");
  driver.all_gone();
  EXPECT_EQ(driver.gang().state(), job::JobState::kFailed);
  EXPECT_EQ(driver.cause(), "worker:1 on host-worker exited with status 5");
  EXPECT_EQ(driver.reason(), job::Reason::kExitStatus);
}

TEST(GangTest, TaskWhoseAgentDiedComesBackAtItsOldAddress) {
  Driver driver = running(two_workers(1, job::RestartScope::kTask));
  EXPECT_EQ(driver.agent_ended(job::kWorker1), "warn; allocate w1#2");
  const auto& asked = std::get<Allocate>(driver.decisions().back());
  EXPECT_EQ(asked.wanted, Driver::address_of(job::kWorker1));
  EXPECT_EQ(driver.allocated(job::kWorker1), "");
  EXPECT_EQ(driver.reported(job::kWorker1), "start@1 w1#2");
  EXPECT_EQ(driver.phase(job::kWorker0), Phase::kRunning);
}

TEST(GangTest, TaskAtAnotherAddressRestartsTheGang) {
  Driver driver = running(two_workers(1, job::RestartScope::kTask));
  driver.agent_ended(job::kWorker1);
  EXPECT_EQ(driver.reported(job::kWorker1, {"elsewhere", 50'000}), "warn; stop w0");
  EXPECT_EQ(
      driver.warning(),
      "worker:1 came back at elsewhere:50000 instead of host-worker:40001: all tasks restart");
  EXPECT_EQ(driver.gang().state(), job::JobState::kRestarting);
  EXPECT_EQ(driver.exited(job::kWorker0, 143), "publish 2; start@2 w0#2 w1#2");
  EXPECT_EQ(driver.gang().restarts_used(), 1);
  EXPECT_EQ(driver.gang().cluster_spec().find(job::kWorker1)->host, "elsewhere");
  EXPECT_EQ(driver.gang().find(job::kWorker1)->host, "elsewhere");
}

TEST(GangTest, ScopeGangBringsAllBackWithTheNextGeneration) {
  job::JobSpec spec = job_of({task_type("worker", 2), task_type("tensorboard")});
  spec.restarts = at_once(1, job::RestartScope::kGang);
  Driver driver = running(spec);
  driver.exited(job::kWorker0, 0);
  EXPECT_EQ(driver.exited(job::kWorker1, 1), "warn; publish 2; start@2 w0#2 w1#2");
  EXPECT_EQ(driver.phase(job::kTensorboard), Phase::kRunning);
  driver.started(job::kWorker0);
  driver.started(job::kWorker1);
  EXPECT_EQ(driver.exited(job::kWorker1, 1), "end w0; end-at-once w1; end t0");
}

TEST(GangTest, GangRestartWaitsUntilTheLastHasStopped) {
  Driver driver = running(two_workers(1, job::RestartScope::kGang));
  EXPECT_EQ(driver.exited(job::kWorker1, 1), "warn; stop w0");
  EXPECT_EQ(driver.gang().waiting_for(driver.now()),
            "restart: worker:0 still to stop; limit in 30 s");
  EXPECT_EQ(driver.exited(job::kWorker0, 0), "publish 2; start@2 w0#2 w1#2");
}

TEST(GangTest, ATaskThatComesBackSaysWhatItsPlaceWaitsFor) {
  Driver driver = running(two_workers(1, job::RestartScope::kTask));
  EXPECT_EQ(driver.agent_ended(job::kWorker1), "warn; allocate w1#2");
  EXPECT_EQ(driver.gang().waiting_for(driver.now()), "the start of worker:1; limit in 10 min");
  driver.step(ClusterWaiting{"host h2 cannot be used"});
  EXPECT_EQ(driver.gang().waiting_for(driver.now()),
            "the start of worker:1 (host h2 cannot be used); limit in 10 min");
  driver.allocated(job::kWorker1);
  EXPECT_EQ(driver.gang().waiting_for(driver.now()), "the start of worker:1; limit in 2 min");
}

TEST(GangTest, TaskThatDoesNotStopForARestartIsKilledAndComesBack) {
  Driver driver = running(two_workers(1, job::RestartScope::kGang));
  driver.exited(job::kWorker1, 1);
  EXPECT_EQ(driver.expire(), "kill w0");
  EXPECT_EQ(driver.agent_ended(job::kWorker0), "allocate w0#2");
  EXPECT_EQ(driver.reported(job::kWorker0), "publish 2; start@2 w0#2 w1#2");
  EXPECT_EQ(driver.gang().restarts_used(), 1);
}

// Found by the simulator: the gang waited for it forever.
TEST(GangTest, TaskThatCannotBeStoppedForARestartFailsTheJob) {
  Driver driver = running(two_workers(1, job::RestartScope::kGang));
  driver.exited(job::kWorker1, 1);
  EXPECT_EQ(driver.expire(), "kill w0");
  EXPECT_EQ(driver.expire(), "warn; end w1");
  EXPECT_EQ(driver.warning(),
            "could not confirm that worker:0 ended; look for leftover processes on host-worker");
  EXPECT_EQ(driver.agent_ended(job::kWorker1), "finish failed");
  EXPECT_EQ(driver.cause(), "worker:0 on host-worker could not be stopped for the restart");
  EXPECT_EQ(driver.reason(), job::Reason::kStopTimeout);
}

TEST(GangTest, CommandThatCannotStartIsNotTriedAgain) {
  for (const job::Reason reason : {job::Reason::kCouldNotStart, job::Reason::kImagePull}) {
    Driver driver = running(two_workers(5, job::RestartScope::kTask));
    job::ExitReport report;
    report.why.reason = reason;
    report.why.detail = "no such file";
    EXPECT_EQ(driver.step(job::Exited{job::kWorker1, 1, report, driver.now()}),
              "end w0; end-at-once w1");
  }
}

TEST(GangTest, LostPortIsANewGenerationThatDoesNotCount) {
  Driver driver = running(two_workers(0, job::RestartScope::kNone));
  EXPECT_EQ(driver.port_lost(job::kWorker1), "warn; stop w0");
  EXPECT_EQ(driver.warning(),
            "worker:1 on host-worker lost its port to another program; restarted, not counted");
  EXPECT_EQ(driver.exited(job::kWorker0, 143), "");
  // A late double of its first report is not news of another port.
  EXPECT_EQ(driver.reported(job::kWorker1), "");
  EXPECT_EQ(driver.reported(job::kWorker1, {"host-worker", 50'000}),
            "publish 2; start@2 w0#2 w1#2");
  EXPECT_EQ(driver.gang().cluster_spec().find(job::kWorker1)->port, 50'000);
  EXPECT_EQ(driver.gang().restarts_used(), 0);
}

TEST(GangTest, WhoLeavesAfterTheNoticeOfItsPreemptionHasNotFailed) {
  Driver driver = running(two_workers(0, job::RestartScope::kNone));
  job::ExitReport report;
  report.why.reason = job::Reason::kPreempted;
  report.why.code = 42;
  EXPECT_THAT(driver.step(job::Exited{job::kWorker1, 1, report, driver.now()}),
              StartsWith("warn; "));
  EXPECT_EQ(driver.warning(),
            "worker:1 on host-worker exited with status 42 after the notice of its preemption; "
            "restarted, not counted");
  EXPECT_EQ(driver.gang().restarts_used(), 0);
}

TEST(GangTest, AProgramThatAlwaysLosesItsPortEndsTheJobWithOneCause) {
  Driver driver = running(two_workers(100, job::RestartScope::kTask));
  const int limit = Gang::Limits().max_lost_ports;
  for (int port = 1; port <= limit; ++port) {
    EXPECT_THAT(driver.port_lost(job::kWorker1), StartsWith("warn; stop w0"));
    driver.exited(job::kWorker0, 143);
    driver.reported(job::kWorker1, {"host-worker", static_cast<std::uint16_t>(50'000 + port)});
    driver.started(job::kWorker0);
    driver.started(job::kWorker1);
  }
  EXPECT_EQ(driver.gang().restarts_used(), 0);
  EXPECT_EQ(driver.port_lost(job::kWorker1), "end w0; end-at-once w1");
  driver.all_gone();
  EXPECT_EQ(
      driver.cause(),
      "worker:1 on host-worker lost its port to another program; the same happened with 5 other "
      "ports");
}

TEST(GangTest, ASidecarThatLosesItsPortAloneGetsAnother) {
  Driver driver = running(job_of({task_type("worker"), task_type("tensorboard")}));
  EXPECT_EQ(driver.port_lost(job::kTensorboard), "warn");
  EXPECT_EQ(driver.warning(),
            "tensorboard:0 on host-tensorboard lost its port to another program; it gets another "
            "port");
  EXPECT_EQ(driver.reported(job::kTensorboard, {"host-tensorboard", 50'000}), "start@1 t0#2");
  driver.started(job::kTensorboard);
  for (int port = 2; port <= Gang::Limits().max_lost_ports; ++port) {
    driver.port_lost(job::kTensorboard);
    driver.reported(job::kTensorboard,
                    {"host-tensorboard", static_cast<std::uint16_t>(50'000 + port)});
    driver.started(job::kTensorboard);
  }
  EXPECT_EQ(driver.port_lost(job::kTensorboard), "warn");
  EXPECT_THAT(driver.warning(),
              HasSubstr("; the same happened with 5 other ports; the job continues"));
  EXPECT_EQ(driver.gang().state(), job::JobState::kRunning);
}

// Its agent could not hold the old port again after the stop, and says so before the others stop.
TEST(GangTest, ANewAddressBeforeTheNextGenerationIsPublished) {
  Driver driver = running(two_workers(1, job::RestartScope::kGang));
  EXPECT_EQ(driver.exited(job::kWorker1, 1), "warn; stop w0");
  EXPECT_EQ(driver.reported(job::kWorker1, {"host-worker", 50'000}), "");
  EXPECT_EQ(driver.exited(job::kWorker0, 143), "publish 2; start@2 w0#2 w1#2");
  EXPECT_EQ(driver.gang().cluster_spec().find(job::kWorker1)->port, 50'000);
}

// Found by the simulator: the address without a port to it was published again.
TEST(GangTest, PortLostWhileStoppingForARestartIsAskedForAnew) {
  Driver driver = running(two_workers(0, job::RestartScope::kNone));
  driver.port_lost(job::kWorker1);
  EXPECT_EQ(driver.port_lost(job::kWorker0), "");
  EXPECT_EQ(driver.reported(job::kWorker1, {"host-worker", 50'001}), "");
  EXPECT_EQ(driver.reported(job::kWorker0, {"host-worker", 50'000}),
            "publish 2; start@2 w0#2 w1#2");
}

// GANGRUN_RESTARTS was the job's count of restarts that count: 0 in the second run after a lost
// node. A place that is lost before the command has begun is no run.
TEST(GangTest, TellsATaskHowOftenItWasStartedBefore) {
  Driver driver(two_workers(0, job::RestartScope::kTask));
  const auto told = [&driver] {
    std::map<job::TaskId, int> restarts;
    for (const Decision& decision : driver.decisions()) {
      if (const auto* start = std::get_if<Start>(&decision))
        restarts[start->task] = start->restarts;
    }
    return restarts;
  };
  using Restarts = std::map<job::TaskId, int>;
  driver.step(Begin{});
  driver.allocated(job::kWorker1);
  driver.agent_ended(job::kWorker1, false);
  for (const job::TaskId& task : {job::kWorker0, job::kWorker1}) {
    driver.allocated(task);
    driver.reported(task);
  }
  EXPECT_EQ(told(), (Restarts{{job::kWorker0, 0}, {job::kWorker1, 0}}));
  for (const job::TaskId& task : {job::kWorker0, job::kWorker1}) driver.started(task);
  driver.agent_ended(job::kWorker1, false);
  driver.allocated(job::kWorker1);
  driver.reported(job::kWorker1);
  EXPECT_EQ(told(), (Restarts{{job::kWorker1, 1}}));
  EXPECT_EQ(driver.gang().restarts_used(), 0);
  // It may not have heard of it.
  driver.session_lost(job::kWorker1);
  driver.reattached(job::kWorker1);
  EXPECT_EQ(told(), (Restarts{{job::kWorker1, 1}}));
}

TEST(GangTest, RestartsThatDoNotCountHaveALimitToo) {
  Gang::Limits limits;
  limits.max_uncounted_restarts = 1;
  Driver driver(two_workers(0, job::RestartScope::kTask), limits);
  driver.run_all();
  EXPECT_EQ(driver.agent_ended(job::kWorker1, false), "warn; allocate w1#2");
  EXPECT_EQ(driver.agent_ended(job::kWorker1, false), "end w0");
}

TEST(GangTest, AgentThatDiesBeforeItReportsIsAskedForAgain) {
  Driver driver(two_workers(1, job::RestartScope::kTask));
  driver.step(Begin{});
  EXPECT_EQ(driver.agent_ended(job::kWorker0), "warn; allocate w0#2");
  EXPECT_EQ(driver.agent_ended(job::kWorker0), "end w1");
}

TEST(GangTest, SilentTaskIsReplacedOnlyWhenItsLeaseHasEnded) {
  Driver driver = running(two_workers(0, job::RestartScope::kTask));
  driver.session_lost(job::kWorker1);
  EXPECT_EQ(driver.gang().waiting_for(driver.now()), "news of worker:1; limit in 1 min 5 s");
  driver.pass(seconds(64));
  EXPECT_EQ(driver.step(TimePassed{}), "");
  EXPECT_EQ(driver.session_lost(job::kWorker1), "");  // the lease does not begin again
  driver.pass(seconds(1));
  EXPECT_EQ(driver.step(TimePassed{}), "kill w1; warn; allocate w1#2");
  EXPECT_EQ(driver.warning(),
            "worker:1 on host-worker sent no heartbeat for 1 min 5 s; restarted, not counted");
}

TEST(GangTest, TaskThatIsHeardOfAgainGoesOn) {
  Driver driver = running(two_workers(0, job::RestartScope::kTask));
  driver.session_lost(job::kWorker1);
  driver.pass(seconds(60));
  EXPECT_EQ(driver.reattached(job::kWorker1), "");
  EXPECT_FALSE(driver.gang().next_deadline());
  EXPECT_EQ(driver.phase(job::kWorker1), Phase::kRunning);
  EXPECT_EQ(driver.gang().waiting_for(driver.now()), "");
}

TEST(GangTest, WhatWasDecidedWhileSilentIsSaidAgain) {
  Driver driver(two_workers(1, job::RestartScope::kGang));
  driver.roll_call();
  driver.started(job::kWorker0);
  driver.session_lost(job::kWorker1);
  EXPECT_EQ(driver.reattached(job::kWorker1), "start@1 w1");
  driver.started(job::kWorker1);
  driver.session_lost(job::kWorker1);
  EXPECT_EQ(driver.exited(job::kWorker0, 1), "warn; stop w1");
  EXPECT_EQ(driver.reattached(job::kWorker1), "stop w1");
  // Also where the new session was there before the loss of the old one was seen.
  EXPECT_EQ(driver.reattached(job::kWorker1), "stop w1");
}

// A start must not make the gang give a silent task up before its lease has ended.
TEST(GangTest, StartOfASilentTaskKeepsItsLease) {
  job::JobSpec spec = two_workers(0, job::RestartScope::kTask);
  spec.timeouts.roll_call = seconds(1);
  Driver driver(spec);
  driver.step(Begin{});
  driver.reported(job::kWorker0);
  driver.session_lost(job::kWorker0);
  EXPECT_EQ(driver.reported(job::kWorker1), "publish 1; start@1 w0 w1");
  driver.started(job::kWorker1);
  EXPECT_EQ(*driver.gang().next_deadline(), driver.now() + seconds(65));
  EXPECT_EQ(driver.reattached(job::kWorker0), "start@1 w0");
  EXPECT_EQ(*driver.gang().next_deadline(), driver.now() + seconds(1));
}

TEST(GangTest, FailedSidecarDoesNotMatter) {
  Driver driver = running(job_of({task_type("worker"), task_type("tensorboard")}));
  EXPECT_EQ(driver.exited(job::kTensorboard, 1), "warn");
  EXPECT_EQ(driver.warning(),
            "tensorboard:0 on host-tensorboard exited with status 1; the job continues without it");
  EXPECT_EQ(driver.agent_ended(job::kTensorboard), "");
  driver.exited(job::kWorker0, 0);
  driver.all_gone();
  EXPECT_EQ(driver.gang().state(), job::JobState::kSucceeded);
}

TEST(GangTest, SidecarThatGetsNoPlaceDoesNotMatter) {
  job::JobSpec spec = job_of({task_type("worker"), task_type("tensorboard")});
  spec.timeouts.allocation = seconds(5);
  Driver driver(spec);
  driver.step(Begin{});
  driver.reported(job::kWorker0);
  driver.started(job::kWorker0);
  EXPECT_EQ(driver.gang().waiting_for(driver.now()), "the start of tensorboard:0; limit in 5.0 s");
  EXPECT_EQ(driver.expire(), "warn; end t0");
  EXPECT_THAT(driver.warning(), HasSubstr("got no place within 5.0 s"));
  EXPECT_EQ(driver.agent_ended(job::kTensorboard), "");
  EXPECT_EQ(driver.gang().state(), job::JobState::kRunning);
}

TEST(GangTest, ObserverComesBackAloneWhateverTheScope) {
  job::JobSpec spec = job_of({task_type("worker"), task_type("evaluator", 1, minutes(1))});
  spec.restarts = at_once(1, job::RestartScope::kGang);
  Driver driver = running(spec);
  EXPECT_EQ(driver.exited(job::kEvaluator, 1), "warn; start@1 e0#2");
  EXPECT_EQ(driver.phase(job::kWorker0), Phase::kRunning);
}

TEST(GangTest, JobOfObserversOnlyAwaitsThem) {
  Driver driver = running(job_of({task_type("evaluator", 1, minutes(1))}));
  EXPECT_FALSE(driver.gang().next_deadline());
  EXPECT_EQ(driver.exited(job::kEvaluator, 0), "end-at-once e0");
  EXPECT_EQ(driver.agent_ended(job::kEvaluator), "finish succeeded");
}

TEST(GangTest, AllocationThatTakesTooLongFailsWithItsReason) {
  job::JobSpec spec = two_workers(5, job::RestartScope::kTask);
  spec.timeouts.allocation = minutes(10);
  Driver driver(spec);
  driver.step(Begin{});
  driver.allocated(job::kWorker0);
  driver.step(ClusterWaiting{"the queue is full"});
  driver.reported(job::kWorker0);
  EXPECT_EQ(driver.gang().waiting_for(driver.now()),
            "a place for worker:1 (1 of 2 tasks have one): the queue is full; limit in 10 min");
  EXPECT_EQ(driver.expire(), "end w0 w1");
  driver.all_gone();
  EXPECT_EQ(driver.cause(),
            "worker:1 got no place within 10 min (timeouts.allocation): the queue is full");
  EXPECT_EQ(driver.reason(), job::Reason::kAllocationTimeout);
}

TEST(GangTest, RollCallThatTakesTooLongFailsWithWhoIsMissing) {
  job::JobSpec spec = job_of({task_type("worker", 7)});
  spec.timeouts.roll_call = minutes(2);
  Driver driver(spec);
  driver.step(Begin{});
  for (const Task& task : std::vector<Task>(driver.gang().tasks())) driver.allocated(task.id);
  driver.reported(job::kWorker0);
  EXPECT_EQ(driver.gang().waiting_for(driver.now()),
            "the report of worker:1, worker:2, worker:3, worker:4 and 2 more (1 of 7 tasks have "
            "reported); limit in 2 min");
  EXPECT_THAT(driver.expire(), StartsWith("end w0 w1"));
  driver.all_gone();
  EXPECT_THAT(driver.cause(),
              StartsWith("worker:1 on host-worker was not ready within 2 min (timeouts.roll_call): "
                         "it did not report"));
  EXPECT_EQ(driver.reason(), job::Reason::kRollCallTimeout);
}

TEST(GangTest, StartThatTakesTooLongFails) {
  Driver driver(two_workers(5, job::RestartScope::kTask));
  driver.roll_call();
  driver.started(job::kWorker0);
  EXPECT_EQ(driver.gang().waiting_for(driver.now()), "the start of worker:1; limit in 2 min");
  EXPECT_EQ(driver.expire(), "end w0 w1");
  driver.all_gone();
  EXPECT_THAT(driver.cause(),
              HasSubstr("was not ready within 2 min (timeouts.roll_call): it did not start"));
}

TEST(GangTest, TaskThatIsAskedForAgainIsNotSaidToBeWhereItWas) {
  Driver driver = running(two_workers(1, job::RestartScope::kTask));
  driver.agent_ended(job::kWorker1);
  driver.expire();
  driver.all_gone();
  EXPECT_THAT(driver.cause(), StartsWith("worker:1 got no place"));
  EXPECT_THAT(driver.cause(), EndsWith("(timeouts.allocation)"));
}

TEST(GangTest, CopiesGoOnAlike) {
  Driver driver = running(two_workers(1, job::RestartScope::kTask));
  Gang copy = driver.gang();
  EXPECT_TRUE(copy == driver.gang());
  driver.exited(job::kWorker1, 1);
  EXPECT_FALSE(copy == driver.gang());
  job::ExitReport report;
  report.why.code = 1;
  report.why.reason = job::Reason::kExitStatus;
  EXPECT_EQ(copy.step(job::Exited{job::kWorker1, 1, report, driver.now()}, driver.now()),
            driver.decisions());
  EXPECT_TRUE(copy == driver.gang());
}

TEST(GangTest, NothingHappensBeforeItBegins) {
  Driver driver(two_workers(1, job::RestartScope::kTask));
  EXPECT_EQ(driver.reported(job::kWorker0), "");
  EXPECT_FALSE(driver.gang().next_deadline());
  EXPECT_EQ(driver.step(Begin{}), "allocate w0 w1");
  EXPECT_EQ(driver.step(Begin{}), "");
}

TEST(GangTest, AClusterThatIsGoneBeforeItBeginsEndsIt) {
  Driver driver(two_workers(1, job::RestartScope::kTask));
  EXPECT_EQ(driver.step(ClusterGone{"gone"}), "finish failed");
  EXPECT_EQ(driver.cause(), "gone");
  EXPECT_EQ(driver.reason(), job::Reason::kClusterGone);
  EXPECT_EQ(driver.step(Begin{}), "");
}

// A job of which none has run has another exit status.
TEST(GangTest, HasRunWhenAnyProcessHas) {
  Driver driver(two_workers(0, job::RestartScope::kTask));
  driver.step(Begin{});
  driver.reported(job::kWorker0);
  driver.reported(job::kWorker1);
  Driver could_not = driver;
  job::ExitReport report;
  report.why = {.reason = job::Reason::kCouldNotStart, .code = 127};
  could_not.step(job::Exited{job::kWorker0, 1, report, driver.now()});
  EXPECT_FALSE(could_not.gang().has_run());
  Driver ended = driver;
  ended.exited(job::kWorker0, 0);
  EXPECT_TRUE(ended.gang().has_run()) << "before it told that it has started";
  driver.step(StopRequested{"Ctrl-C"});
  driver.started(job::kWorker1);
  EXPECT_TRUE(driver.gang().has_run()) << "though it is to end already";
}

}  // namespace
}  // namespace gangrun::gang
