#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "gang/gang.h"
#include "gang/gang_driver.h"
#include "job/test_tasks.h"

// How a job ends: success, failure and its first cause, time limits, and being stopped.
namespace gangrun::gang {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::HasSubstr;

const job::TaskId kWorker2{"worker", 2};

job::JobSpec whole_family() {
  return job_of({task_type("chief"), task_type("worker"), task_type("ps"),
                 task_type("evaluator", 1, minutes(2)), task_type("tensorboard", 1, minutes(1))});
}

job::ExitReport failed_with(const job::Why& why) {
  job::ExitReport report;
  report.why = why;
  return report;
}

TEST(GangEndTest, SucceedsWhenAllTrackedTasksHave) {
  Driver driver = running(job_of({task_type("chief"), task_type("worker"), task_type("ps")}));
  EXPECT_EQ(driver.exited(job::kChief, 0), "");
  EXPECT_EQ(driver.exited(job::kWorker0, 0), "end p0; end-at-once c0 w0");
  EXPECT_EQ(driver.gang().state(), job::JobState::kStopping);
  EXPECT_EQ(driver.gang().waiting_for(driver.now()),
            "the end of chief:0, worker:0, ps:0; limit in 10 s");
  EXPECT_EQ(driver.agent_ended(job::kChief), "");
  EXPECT_EQ(driver.agent_ended(job::kWorker0), "");
  EXPECT_EQ(driver.exited(job::kPs, 143), "");
  EXPECT_EQ(driver.agent_ended(job::kPs), "finish succeeded");
  EXPECT_EQ(driver.cause(), "");
  EXPECT_EQ(state_of(*driver.gang().find(job::kPs)), job::TaskState::kStopped);
  EXPECT_EQ(state_of(*driver.gang().find(job::kChief)), job::TaskState::kSucceeded);
}

// Nobody knows whether its agent is gone, but its run has ended for sure.
TEST(GangEndTest, ATaskThatSucceededStaysSoWhenTheEndOfItsAgentIsNotConfirmed) {
  Driver driver = running(job_of({task_type("worker")}));
  EXPECT_EQ(driver.exited(job::kWorker0, 0), "end-at-once w0");
  EXPECT_EQ(driver.expire(), "kill w0");
  EXPECT_EQ(driver.expire(), "warn; finish succeeded");
  EXPECT_EQ(driver.warning(),
            "could not confirm that worker:0 ended; look for leftover processes on host-worker");
  EXPECT_EQ(state_of(*driver.gang().find(job::kWorker0)), job::TaskState::kSucceeded);
}

TEST(GangEndTest, ATaskThatMayRunAgainIsNotOutOfItsGeneration) {
  const auto is_out = [](Driver& driver, const job::TaskId& task) {
    return driver.gang().is_out(*driver.gang().find(task));
  };
  job::JobSpec spec = job_of({task_type("worker", 2), task_type("ps")});
  spec.restarts.scope = job::RestartScope::kTask;
  spec.restarts.max = 1;
  spec.restarts.pause = seconds(1);
  Driver alone = running(spec);
  EXPECT_FALSE(is_out(alone, job::kWorker0));
  alone.exited(job::kWorker0, 0);
  EXPECT_TRUE(is_out(alone, job::kWorker0));
  alone.agent_ended(job::kWorker0);
  EXPECT_TRUE(is_out(alone, job::kWorker0));
  alone.exited(job::kWorker1, 3);
  EXPECT_FALSE(is_out(alone, job::kWorker1));
  alone.expire();
  EXPECT_FALSE(is_out(alone, job::kWorker1));
  alone.exited(job::kPs, 3);  // goes on without it
  EXPECT_EQ(is_out(alone, job::kPs), alone.phase(job::kPs) == Phase::kIdle);

  spec.restarts.scope = job::RestartScope::kGang;
  Driver together = running(spec);
  together.exited(job::kWorker0, 0);
  EXPECT_TRUE(is_out(together, job::kWorker0));
  together.exited(job::kWorker1, 3);  // all of them run again
  EXPECT_FALSE(is_out(together, job::kWorker0));
  EXPECT_FALSE(is_out(together, job::kWorker1));
}

TEST(GangEndTest, SuccessOfOneTypeStopsTheOthers) {
  job::JobSpec spec = job_of({task_type("chief"), task_type("worker", 2)});
  spec.success = "chief";
  Driver driver = running(spec);
  EXPECT_EQ(driver.exited(job::kWorker0, 0), "");
  EXPECT_EQ(driver.exited(job::kChief, 0), "end w1; end-at-once c0 w0");
  driver.all_gone();
  EXPECT_EQ(driver.gang().state(), job::JobState::kSucceeded);
}

TEST(GangEndTest, FailureOfOneThatIsNotNeededForSuccessStillFails) {
  job::JobSpec spec = job_of({task_type("chief"), task_type("worker")});
  spec.success = "chief";
  Driver driver = running(spec);
  EXPECT_EQ(driver.exited(job::kWorker0, 1), "end c0; end-at-once w0");
}

TEST(GangEndTest, TheCauseIsKnownBeforeTheOthersHaveStopped) {
  Driver driver = running(job_of({task_type("worker"), task_type("ps")}));
  EXPECT_EQ(driver.gang().first_cause(), std::nullopt);
  EXPECT_EQ(driver.exited(job::kPs, 1), "end w0; end-at-once p0");
  const auto early = driver.gang().first_cause();
  ASSERT_TRUE(early.has_value());
  EXPECT_EQ(early->task, job::kPs);
  driver.all_gone();
  EXPECT_EQ(driver.cause(), to_words(*early));
}

TEST(GangEndTest, FailedServiceFailsTheJob) {
  Driver driver = running(job_of({task_type("worker"), task_type("ps")}));
  EXPECT_EQ(driver.exited(job::kPs, 1), "end w0; end-at-once p0");
  driver.all_gone();
  EXPECT_EQ(driver.cause(), "ps:0 on host-ps exited with status 1");
}

TEST(GangEndTest, ObserverIsAwaitedWhileItMakesProgress) {
  Driver driver = running(whole_family());
  driver.exited(job::kChief, 0);
  EXPECT_EQ(driver.exited(job::kWorker0, 0), "end p0");
  EXPECT_EQ(driver.gang().state(), job::JobState::kRunning);
  EXPECT_EQ(driver.agent_ended(job::kPs), "");
  EXPECT_EQ(driver.gang().waiting_for(driver.now()), "the end of evaluator:0; limit in 2 min");
  for (int i = 0; i < 5; ++i) {
    driver.pass(seconds(119));
    EXPECT_EQ(driver.step(TimePassed{}), "");
    driver.step(Progress{job::kEvaluator, 1});
  }
  EXPECT_EQ(driver.exited(job::kEvaluator, 0), "end-at-once c0 w0 e0");
  for (const auto& task : {job::kChief, job::kWorker0, job::kEvaluator})
    EXPECT_EQ(driver.agent_ended(task), "");
  // The sidecar lingers.
  EXPECT_EQ(driver.phase(job::kTensorboard), Phase::kRunning);
  EXPECT_EQ(*driver.gang().next_deadline(), driver.now() + minutes(1));
  EXPECT_EQ(driver.expire(), "end t0");
  EXPECT_EQ(driver.agent_ended(job::kTensorboard), "finish succeeded");
}

TEST(GangEndTest, ObserverWithoutProgressIsStoppedAndTold) {
  Driver driver = running(job_of({task_type("worker"), task_type("evaluator", 1, minutes(2))}));
  driver.exited(job::kWorker0, 0);
  EXPECT_EQ(driver.expire(), "warn; end e0; end-at-once w0");
  EXPECT_EQ(driver.warning(),
            "evaluator:0 made no progress for 2 min after the others had ended; it was stopped");
  driver.exited(job::kEvaluator, 143);
  EXPECT_EQ(driver.exit_reason(job::kEvaluator), job::Reason::kNoProgress);
  driver.all_gone();
  EXPECT_EQ(driver.gang().state(), job::JobState::kSucceeded);
}

TEST(GangEndTest, ATaskSaysWhyItsLastRunEnded) {
  Driver driver = running(job_of({task_type("worker", 3)}));
  driver.exited(job::kWorker0, 0);
  EXPECT_EQ(driver.exit_reason(job::kWorker0), job::Reason::kUnknown);
  driver.exited(job::kWorker1, 3);
  EXPECT_EQ(driver.exit_reason(job::kWorker1), job::Reason::kExitStatus);
  // It was stopped: what it made of that is no reason.
  driver.exited({"worker", 2}, 143);
  EXPECT_EQ(driver.exit_reason({"worker", 2}), job::Reason::kStopped);
  EXPECT_EQ(to_words(*driver.gang().find({"worker", 2})->exit), "exited with status 143");
}

TEST(GangEndTest, AGoneClusterGivesItsReason) {
  Driver driver = running(job_of({task_type("worker")}));
  driver.step(ClusterGone{"no right to create pods", job::Reason::kApiServer});
  driver.all_gone();
  EXPECT_EQ(driver.cause(), "no right to create pods");
  EXPECT_EQ(driver.reason(), job::Reason::kApiServer);
}

TEST(GangEndTest, ObserverWithoutGraceIsNotAwaited) {
  Driver driver = running(job_of({task_type("worker"), task_type("evaluator")}));
  EXPECT_EQ(driver.exited(job::kWorker0, 0), "end e0; end-at-once w0");
}

TEST(GangEndTest, FailureOfAnAwaitedObserverFailsTheJob) {
  Driver driver = running(job_of({task_type("worker"), task_type("evaluator", 1, minutes(2))}));
  driver.exited(job::kWorker0, 0);
  EXPECT_EQ(driver.exited(job::kEvaluator, 1), "end-at-once w0 e0");
  driver.all_gone();
  EXPECT_EQ(driver.gang().state(), job::JobState::kFailed);
  EXPECT_EQ(driver.cause(), "evaluator:0 on host-evaluator exited with status 1");
}

// The grace was forgotten in each of these: the job waited forever.
TEST(GangEndTest, GraceOfAnObserverOutlivesItsStartAndItsSession) {
  Driver driver(job_of({task_type("worker"), task_type("evaluator", 1, minutes(2))}));
  driver.roll_call();
  driver.started(job::kWorker0);
  driver.exited(job::kWorker0, 0);
  driver.started(job::kEvaluator);
  EXPECT_EQ(driver.gang().next_deadline(), driver.now() + minutes(2));
  driver.session_lost(job::kEvaluator);
  EXPECT_EQ(driver.gang().next_deadline(), driver.now() + seconds(65));
  driver.reattached(job::kEvaluator);
  EXPECT_EQ(driver.gang().next_deadline(), driver.now() + minutes(2));
}

TEST(GangEndTest, GraceOfASidecarOutlivesItsSession) {
  Driver driver = running(job_of({task_type("worker"), task_type("tensorboard", 1, minutes(1))}));
  driver.exited(job::kWorker0, 0);
  driver.agent_ended(job::kWorker0);
  driver.session_lost(job::kTensorboard);
  driver.reattached(job::kTensorboard);
  EXPECT_EQ(driver.gang().next_deadline(), driver.now() + minutes(1));
}

TEST(GangEndTest, SidecarThatEndsInItsGraceIsNotWaitedForAnyMore) {
  for (const int status : {0, 1}) {
    Driver driver = running(job_of({task_type("worker"), task_type("tensorboard", 1, minutes(1))}));
    driver.exited(job::kWorker0, 0);
    driver.agent_ended(job::kWorker0);
    EXPECT_THAT(driver.exited(job::kTensorboard, status), HasSubstr("end-at-once t0"));
    EXPECT_EQ(driver.agent_ended(job::kTensorboard), "finish succeeded");
  }
}

TEST(GangEndTest, FirstCauseIsTheEarliestFailureHoweverLateItIsHeardOf) {
  Driver driver = running(job_of({task_type("worker", 3)}));
  const base::Instant first = driver.now() + seconds(1);
  driver.pass(seconds(42));
  EXPECT_EQ(driver.exited(job::kWorker0, 1), "end-at-once w0; end w1 w2");
  driver.pass(std::chrono::milliseconds(5));
  driver.step(job::Exited{kWorker2, 1,
                          failed_with({.reason = job::Reason::kOutOfMemory, .signal = 9}), first});
  driver.exited(job::kWorker1, 143);  // stopped by us: no failure of its own
  driver.all_gone();
  EXPECT_EQ(driver.cause(),
            "worker:2 on host-worker was killed by signal 9 (out of memory), 41 s before worker:0 "
            "failed too");
  EXPECT_EQ(state_of(*driver.gang().find(kWorker2)), job::TaskState::kFailed);
  EXPECT_EQ(state_of(*driver.gang().find(job::kWorker1)), job::TaskState::kStopped);
}

TEST(GangEndTest, FirstCauseMayBeAnAgentThatDied) {
  Driver driver = running(job_of({task_type("worker", 2)}));
  const base::Instant first = driver.now() + seconds(1);
  driver.pass(seconds(3));
  driver.exited(job::kWorker0, 1);
  driver.step(job::AgentEnded{
      job::kWorker1, 1, {.reason = job::Reason::kLostNode, .detail = "its disks failed"}, first});
  driver.all_gone();
  EXPECT_EQ(driver.cause(),
            "worker:1 on host-worker was lost with its node: its disks failed, 2.0 s before "
            "worker:0 failed too");
}

// Found by the simulator: the silent one was named second, for it was given up late.
TEST(GangEndTest, FirstCauseMayBeATaskThatWasGivenUpWhenSilent) {
  Gang::Limits limits;
  limits.max_uncounted_restarts = 0;
  Driver driver(job_of({task_type("worker", 2)}), limits);
  driver.run_all();
  const base::Instant lease_ended = driver.now() + seconds(60);
  driver.session_lost(job::kWorker0);
  EXPECT_EQ(driver.expire(), "kill w0; end w1");
  const base::Instant later = lease_ended + seconds(2);
  driver.step(job::Exited{job::kWorker1, 1,
                          failed_with({.reason = job::Reason::kSignal, .signal = 6}), later});
  EXPECT_EQ(driver.step(
                job::AgentEnded{job::kWorker0, 1, {.reason = job::Reason::kLostNode}, lease_ended}),
            "");
  EXPECT_EQ(driver.agent_ended(job::kWorker1), "finish failed");
  EXPECT_EQ(driver.cause(),
            "worker:0 on host-worker was lost with its node, 2.0 s before worker:1 failed too");
}

TEST(GangEndTest, SidecarIsNeverTheFirstCause) {
  Driver driver = running(job_of({task_type("worker"), task_type("tensorboard")}));
  const base::Instant first = driver.now() + seconds(1);
  driver.pass(seconds(3));
  driver.exited(job::kWorker0, 1);
  driver.step(job::AgentEnded{
      job::kTensorboard, 1, {.reason = job::Reason::kAgentEnded, .detail = "died"}, first});
  EXPECT_EQ(driver.agent_ended(job::kWorker0), "finish failed");
  EXPECT_EQ(driver.cause(), "worker:0 on host-worker exited with status 1");
}

TEST(GangEndTest, CauseKeepsWhatTheTaskSaidLast) {
  Driver driver = running(job_of({task_type("worker")}));
  job::ExitReport report = failed_with({.reason = job::Reason::kExitStatus, .code = 1});
  report.last_lines = {"one", "two"};
  report.traceback = "Traceback";
  driver.step(job::Exited{job::kWorker0, 1, report, driver.now()});
  driver.all_gone();
  const auto& finish = std::get<Finish>(driver.decisions().back());
  EXPECT_EQ(finish.cause->task, job::kWorker0);
  EXPECT_EQ(finish.cause->host, "host-worker");
  EXPECT_EQ(finish.cause->last_lines, report.last_lines);
  EXPECT_EQ(finish.cause->traceback, "Traceback");
}

TEST(GangEndTest, JobThatTakesTooLongFails) {
  job::JobSpec spec = job_of({task_type("worker")});
  spec.timeouts.job = std::chrono::hours(12);
  Driver driver = running(spec);
  EXPECT_EQ(driver.expire(), "end w0");
  driver.all_gone();
  EXPECT_EQ(driver.cause(), "the job did not end within 12 h (timeouts.job)");
}

TEST(GangEndTest, StopOnceGivesTimeAndTwiceDoesNot) {
  Driver driver = running(job_of({task_type("worker", 2)}));
  EXPECT_EQ(driver.step(StopRequested{"Ctrl-C", false}), "end w0 w1");
  EXPECT_EQ(driver.gang().next_deadline(), driver.now() + seconds(40));
  EXPECT_EQ(driver.agent_ended(job::kWorker0), "");
  EXPECT_EQ(driver.step(StopRequested{"Ctrl-C", false}), "end-at-once w1");
  const auto limit = driver.gang().next_deadline();
  EXPECT_EQ(limit, driver.now() + seconds(10));
  driver.pass(seconds(5));
  // However often it is asked, the limit does not move away.
  EXPECT_EQ(driver.step(StopRequested{"Ctrl-C", false}), "end-at-once w1");
  EXPECT_EQ(driver.gang().next_deadline(), limit);
  EXPECT_EQ(driver.exited(job::kWorker1, 137), "");
  EXPECT_EQ(driver.agent_ended(job::kWorker1), "finish killed");
  EXPECT_EQ(driver.cause(), "stopped by Ctrl-C");
}

TEST(GangEndTest, StopAtOnceReachesThoseWhoWereGivenTimeBefore) {
  Driver driver = running(whole_family());
  driver.exited(job::kChief, 0);
  EXPECT_EQ(driver.exited(job::kWorker0, 0), "end p0");
  EXPECT_EQ(driver.step(StopRequested{"gangrun kill by ana", true}), "end-at-once c0 w0 p0 e0 t0");
}

TEST(GangEndTest, StopBeforeItBeginsIsTheEnd) {
  Driver driver(job_of({task_type("worker")}));
  EXPECT_EQ(driver.step(StopRequested{"Ctrl-C", false}), "finish killed");
  EXPECT_EQ(driver.cause(), "stopped by Ctrl-C");
  EXPECT_EQ(driver.step(Begin{}), "");
  EXPECT_TRUE(driver.gang().finished());
}

TEST(GangEndTest, StopWhileGatheringEndsAllThatWereAskedFor) {
  Driver driver(job_of({task_type("worker", 3)}));
  driver.step(Begin{});
  driver.allocated(job::kWorker1);
  driver.reported(kWorker2);
  EXPECT_EQ(driver.step(StopRequested{"Ctrl-C", false}), "end w0 w1 w2");
  EXPECT_EQ(driver.reported(job::kWorker1),
            "end w1");  // it may have come too late for the first  // too late
  driver.all_gone();
  EXPECT_EQ(driver.gang().state(), job::JobState::kKilled);
}

TEST(GangEndTest, SessionThatComesBackIsToldToEndInTheTimeThatIsLeft) {
  Driver driver = running(job_of({task_type("worker")}));
  driver.step(StopRequested{"Ctrl-C", false});
  driver.pass(seconds(12));
  EXPECT_EQ(driver.reattached(job::kWorker0), "end w0");
  EXPECT_EQ(std::get<End>(driver.decisions().front()).grace, seconds(18));
  driver.step(StopRequested{"Ctrl-C", false});
  EXPECT_EQ(driver.reattached(job::kWorker0), "end-at-once w0");
}

TEST(GangEndTest, ClusterThatIsGoneFailsTheJob) {
  Driver driver = running(job_of({task_type("worker", 2)}));
  EXPECT_EQ(driver.step(ClusterGone{"the application was killed by its queue's owner"}),
            "end w0 w1");
  EXPECT_EQ(driver.step(ClusterGone{"again"}), "");
  driver.all_gone();
  EXPECT_EQ(driver.gang().state(), job::JobState::kFailed);
  EXPECT_EQ(driver.cause(), "the application was killed by its queue's owner");
}

TEST(GangEndTest, WhoDoesNotEndIsKilledAndThenGivenUp) {
  Driver driver = running(job_of({task_type("worker", 2)}));
  driver.exited(job::kWorker0, 1);
  driver.agent_ended(job::kWorker0);
  EXPECT_EQ(driver.gang().waiting_for(driver.now()), "the end of worker:1; limit in 30 s");
  // Beside "have 30 s": one clock for what is shown.
  EXPECT_EQ(driver.gang().waiting_for(driver.now() + seconds(12)),
            "the end of worker:1; limit in 18 s");
  EXPECT_EQ(driver.gang().waiting_for(driver.now() + seconds(32)),
            "the end of worker:1; limit in 8.0 s");
  EXPECT_EQ(driver.expire(), "kill w1");
  EXPECT_EQ(driver.gang().next_deadline(), driver.now() + seconds(10));
  EXPECT_EQ(driver.expire(), "warn; finish failed");
  EXPECT_EQ(driver.warning(),
            "could not confirm that worker:1 ended; look for leftover processes on host-worker");
  EXPECT_EQ(state_of(*driver.gang().find(job::kWorker1)), job::TaskState::kLost);
}

TEST(GangEndTest, NothingIsDecidedAfterTheEnd) {
  Driver driver = running(job_of({task_type("worker")}));
  driver.exited(job::kWorker0, 0);
  EXPECT_EQ(driver.agent_ended(job::kWorker0), "finish succeeded");
  EXPECT_FALSE(driver.gang().next_deadline());
  EXPECT_EQ(driver.gang().waiting_for(driver.now()), "");
  driver.pass(std::chrono::hours(1));
  EXPECT_EQ(driver.step(Begin{}), "");
  EXPECT_EQ(driver.step(TimePassed{}), "");
  EXPECT_EQ(driver.exited(job::kWorker0, 1), "");
  EXPECT_EQ(driver.agent_ended(job::kWorker0), "");
  EXPECT_EQ(driver.step(StopRequested{"Ctrl-C", true}), "");
  EXPECT_EQ(driver.step(ClusterGone{"gone"}), "");
  EXPECT_EQ(driver.gang().state(), job::JobState::kSucceeded);
}

}  // namespace
}  // namespace gangrun::gang
