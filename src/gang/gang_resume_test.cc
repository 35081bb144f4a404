#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "gang/gang_driver.h"
#include "job/test_tasks.h"

namespace gangrun::gang {
namespace {

using std::chrono::seconds;

job::JobSpec two_resumed_workers(job::RestartScope scope = job::RestartScope::kGang) {
  job::JobSpec spec = job_of({task_type("worker", 2)});
  spec.restarts = at_once(1, scope);
  return spec;
}

TEST(GangResumeTest, RunningTasksAreWaitedForAndGoOn) {
  Driver driver(two_resumed_workers());
  driver.run_all();
  driver.pass(seconds(600));
  EXPECT_EQ(driver.step(Resumed{}), "");
  EXPECT_EQ(driver.gang().waiting_for(driver.now()),
            "news of worker:0, worker:1; limit in 1 min 5 s");
  driver.reattached(job::kWorker0);
  driver.reattached(job::kWorker1);
  EXPECT_EQ(driver.gang().next_deadline(), std::nullopt);
  EXPECT_EQ(driver.gang().state(), job::JobState::kRunning);
}

TEST(GangResumeTest, WhoDoesNotComeBackIsReplacedAfterItsLease) {
  Driver driver(two_resumed_workers(job::RestartScope::kTask));
  driver.run_all();
  driver.step(Resumed{});
  driver.reattached(job::kWorker0);
  const base::Instant resumed = driver.now();
  EXPECT_EQ(driver.expire(), "kill w1; warn; allocate w1#2");
  EXPECT_EQ(driver.now() - resumed, Gang::Limits{}.silence);
}

// Nobody knows whether the dead master has still started an agent; two of them must not take part.
TEST(GangResumeTest, WhatWasAskedForIsAskedForAnew) {
  Driver driver(two_resumed_workers());
  driver.step(Begin{});
  driver.allocated(job::kWorker0);
  EXPECT_EQ(driver.step(Resumed{}), "end-at-once w1; allocate w1#2");
  EXPECT_EQ(driver.step(Allocated{job::kWorker1, 1, "late"}), "");
  EXPECT_EQ(
      driver.step(job::AgentEnded{
          job::kWorker1, 1, {.reason = job::Reason::kAgentEnded, .detail = "late"}, driver.now()}),
      "");
  EXPECT_EQ(driver.phase(job::kWorker1), Phase::kAsked);
  driver.reported(job::kWorker0);
  EXPECT_EQ(driver.reported(job::kWorker1), "publish 1; start@1 w0 w1#2");
}

TEST(GangResumeTest, AgentThatHasNotReportedHasTheTimeForTheRollCallAgain) {
  Driver driver(two_resumed_workers());
  driver.step(Begin{});
  driver.allocated(job::kWorker0);
  driver.allocated(job::kWorker1);
  driver.pass(seconds(3600));
  driver.step(Resumed{});
  EXPECT_EQ(driver.gang().next_deadline(), driver.now() + job::Timeouts{}.roll_call);
}

TEST(GangResumeTest, StartIsDecidedAgainForWhoIsBack) {
  Driver driver(two_resumed_workers());
  driver.roll_call();
  EXPECT_EQ(driver.step(Resumed{}), "");
  EXPECT_EQ(driver.reattached(job::kWorker0), "start@1 w0");
  // A desk that never heard of it takes its report for its first.
  EXPECT_EQ(driver.reported(job::kWorker1), "start@1 w1");
  driver.started(job::kWorker0);
  driver.started(job::kWorker1);
  EXPECT_EQ(driver.gang().next_deadline(), std::nullopt);
}

TEST(GangResumeTest, StopIsDecidedAgainForWhoIsBack) {
  Driver driver(two_resumed_workers());
  driver.run_all();
  driver.exited(job::kWorker0, 1);
  EXPECT_EQ(driver.step(Resumed{}), "");
  EXPECT_EQ(driver.gang().waiting_for(driver.now()),
            "restart: worker:1 still to stop; limit in 1 min 5 s");
  EXPECT_EQ(driver.reattached(job::kWorker1), "stop w1");
  EXPECT_EQ(driver.exited(job::kWorker1, 1), "publish 2; start@2 w0#2 w1#2");
}

TEST(GangResumeTest, WaitsForNewsOfThoseThatHaveReported) {
  Driver driver(two_resumed_workers());
  driver.run_all();
  driver.port_lost(job::kWorker0);
  driver.exited(job::kWorker1, 1);
  driver.step(Resumed{});
  EXPECT_EQ(driver.gang().waiting_for(driver.now()),
            "the report of worker:0 (1 of 2 tasks have reported); limit in 1 min 5 s");
}

TEST(GangResumeTest, EndIsDecidedAgainAndTheVerdictStays) {
  Driver driver(two_resumed_workers());
  driver.run_all();
  driver.step(StopRequested{"Ctrl-C", false});
  driver.pass(seconds(10));
  EXPECT_EQ(driver.step(Resumed{}), "end w0 w1");
  EXPECT_EQ(std::get<End>(driver.decisions()[0]).grace, seconds(20));
  driver.pass(seconds(3600));
  EXPECT_EQ(driver.step(Resumed{}), "end-at-once w0 w1");
  EXPECT_EQ(driver.reattached(job::kWorker0), "end-at-once w0");
  EXPECT_EQ(driver.expire(), "kill w0 w1");
  EXPECT_EQ(driver.step(Resumed{}), "kill w0 w1");
  EXPECT_EQ(driver.all_gone(), "finish killed");
  EXPECT_EQ(driver.cause(), "stopped by Ctrl-C");
  EXPECT_EQ(driver.reason(), job::Reason::kStopped);
}

TEST(GangResumeTest, ObserverInItsGraceHasAllOfItAgain) {
  Driver driver(job_of({task_type("worker"), task_type("evaluator", 1, seconds(100))}));
  driver.run_all();
  driver.exited(job::kWorker0, 0);
  driver.pass(seconds(99));
  driver.step(Resumed{});
  driver.pass(seconds(50));
  driver.reattached(job::kWorker0);
  driver.reattached(job::kEvaluator);
  EXPECT_EQ(driver.gang().next_deadline(), driver.now() + seconds(100));
}

TEST(GangResumeTest, JobThatHadNotBegunBegins) {
  Driver driver(two_resumed_workers());
  EXPECT_EQ(driver.step(Resumed{}), "allocate w0 w1");
}

TEST(GangResumeTest, JobThatHasEndedStaysSo) {
  Driver driver(two_resumed_workers());
  driver.step(StopRequested{"Ctrl-C", false});
  const Gang before = driver.gang();
  EXPECT_EQ(driver.step(Resumed{}), "");
  EXPECT_TRUE(driver.gang() == before);
}

// Events that a journal leaves out must not be missed when it is replayed.
TEST(GangMattersTest, OnlyWhatIsDueOrProlongsAGrace) {
  Driver driver(job_of({task_type("worker"), task_type("evaluator", 1, seconds(100))}));
  const Progress progress{job::kEvaluator, 1};
  const auto matters = [&](const Event& event) {
    const Gang before = driver.gang();
    const bool answer = driver.gang().matters(event, driver.now());
    if (!answer) {
      EXPECT_EQ(driver.step(event), "");
      EXPECT_TRUE(driver.gang() == before);
    }
    return answer;
  };
  EXPECT_FALSE(matters(TimePassed{}));
  EXPECT_FALSE(matters(Allocated{job::kWorker0, 1, "host"}));
  EXPECT_TRUE(matters(Begin{}));
  driver.step(Begin{});
  EXPECT_FALSE(matters(progress));
  driver.allocated(job::kEvaluator);
  EXPECT_TRUE(matters(progress)) << "it may get what the job brings";
  driver.run_all();
  EXPECT_FALSE(matters(TimePassed{}));
  EXPECT_FALSE(matters(progress));
  EXPECT_TRUE(matters(job::Exited{job::kWorker0, 1, {}, driver.now()}));
  driver.exited(job::kWorker0, 0);
  EXPECT_FALSE(matters(TimePassed{}));
  EXPECT_TRUE(matters(progress));
  EXPECT_FALSE(matters(Progress{job::kEvaluator, 2}));
  EXPECT_FALSE(matters(Progress{job::kWorker0, 1}));
  driver.session_lost(job::kEvaluator);
  EXPECT_FALSE(matters(progress));
  driver.pass(seconds(1000));
  EXPECT_TRUE(matters(TimePassed{}));
  driver.step(StopRequested{"Ctrl-C", true});
  driver.all_gone();
  EXPECT_FALSE(matters(StopRequested{"Ctrl-C", true}));
}

}  // namespace
}  // namespace gangrun::gang
