// Spares, and gangs that are smaller than the job wants them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "gang/gang_driver.h"

namespace gangrun::gang {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::HasSubstr;

job::TaskId worker(int index) { return {"worker", index}; }

job::JobSpec elastic(int instances, int needed, int spares = 0, int max = 3,
                     job::RestartScope scope = job::RestartScope::kTask) {
  job::JobSpec spec = job_of({elastic_type("worker", instances, needed, spares)});
  spec.restarts = at_once(max, scope);
  return spec;
}

// --- spares

TEST(SpareTest, WaitsBesideTheGang) {
  Driver driver(elastic(2, 2, 1));
  EXPECT_EQ(driver.step(Begin{}), "allocate w0 w1 w2");
  driver.reported(worker(0));
  EXPECT_EQ(driver.reported(worker(2)), "");
  EXPECT_EQ(driver.reported(worker(1)), "publish 1; start@1 w0 w1");
  EXPECT_TRUE(driver.gang().cluster_spec().members.empty());
  EXPECT_EQ(driver.phase(worker(2)), Phase::kRegistered);
  EXPECT_EQ(state_of(*driver.gang().find(worker(2))), job::TaskState::kSpare);
  driver.started(worker(0));
  driver.started(worker(1));
  EXPECT_FALSE(driver.gang().next_deadline());
  EXPECT_EQ(driver.gang().waiting_for(driver.now()), "");
}

TEST(SpareTest, IsNotAwaited) {
  job::JobSpec spec = elastic(2, 2, 1);
  spec.timeouts.allocation = minutes(10);
  Driver driver(spec);
  driver.step(Begin{});
  driver.reported(worker(0));
  EXPECT_EQ(driver.reported(worker(1)), "publish 1; start@1 w0 w1");
  driver.started(worker(0));
  driver.started(worker(1));
  EXPECT_FALSE(driver.gang().next_deadline());
  driver.pass(minutes(60));
  EXPECT_EQ(driver.allocated(worker(2)), "");
  EXPECT_EQ(driver.reported(worker(2)), "");
  EXPECT_EQ(driver.phase(worker(2)), Phase::kRegistered);
}

TEST(SpareTest, TakesThePlaceOfALostTaskAtOnce) {
  Driver driver = running(elastic(3, 3, 1));
  EXPECT_EQ(driver.agent_ended(worker(1)), "warn; allocate w1#2; stop w0 w2");
  driver.exited(worker(0), 143);
  EXPECT_EQ(driver.exited(worker(2), 143), "warn; publish 2; start@2 w0#2 w2#2 w3");
  EXPECT_EQ(driver.warning(), "worker:3 replaces worker:1");
  EXPECT_EQ(driver.members("worker"), "w0 w3 w2");
  EXPECT_EQ(driver.gang().cluster_spec().members.at("worker"), (std::vector<int>{0, 3, 2}));
  EXPECT_EQ(driver.gang().restarts_used(), 1);
  // The lost one is the spare when it is back.
  for (const int index : {0, 2, 3}) driver.started(worker(index));
  EXPECT_FALSE(driver.gang().next_deadline());
  EXPECT_EQ(driver.reported(worker(1)), "");
  EXPECT_EQ(driver.agent_ended(worker(0)), "warn; allocate w0#3; stop w2#2 w3");
  driver.exited(worker(2), 143);
  EXPECT_EQ(driver.exited(worker(3), 143), "warn; publish 3; start@3 w1#2 w2#3 w3#2");
  EXPECT_EQ(driver.members("worker"), "w1 w3 w2");
}

TEST(SpareTest, TakesThePlaceOfASilentTaskWhenItsLeaseHasEnded) {
  Driver driver = running(elastic(2, 2, 1, 0));
  driver.session_lost(worker(1));
  driver.pass(seconds(64));
  EXPECT_EQ(driver.step(TimePassed{}), "");
  EXPECT_EQ(driver.expire(), "kill w1; warn; allocate w1#2; stop w0");
  EXPECT_EQ(driver.exited(worker(0), 143), "warn; publish 2; start@2 w0#2 w2");
  EXPECT_EQ(driver.gang().restarts_used(), 0);
}

TEST(SpareTest, IsNotUsedForACommandThatFailsBesideItsAgent) {
  Driver driver = running(elastic(2, 2, 1));
  EXPECT_EQ(driver.exited(worker(1), 1), "warn; start@1 w1#2");
  Driver gang = running(elastic(2, 2, 1, 3, job::RestartScope::kGang));
  EXPECT_EQ(gang.exited(worker(1), 1), "warn; stop w0");
  EXPECT_EQ(gang.exited(worker(0), 143), "publish 2; start@2 w0#2 w1#2");
}

TEST(SpareTest, ThatIsLostIsAskedForAgainAndDoesNotMatter) {
  Driver driver = running(elastic(2, 2, 1, 0));
  EXPECT_EQ(driver.agent_ended(worker(2)), "warn; allocate w2#2");
  EXPECT_EQ(driver.warning(),
            "worker:2 on host-worker lost its agent, which was killed by signal 9 (kill); "
            "another one is requested");
  EXPECT_EQ(driver.gang().state(), job::JobState::kRunning);
  EXPECT_FALSE(driver.gang().next_deadline());
  driver.reported(worker(2));
  driver.session_lost(worker(2));
  EXPECT_EQ(driver.expire(), "kill w2#2; warn; allocate w2#3");
}

TEST(SpareTest, IsNotAskedForAgainForEver) {
  Gang::Limits limits;
  limits.max_uncounted_restarts = 2;
  Driver driver = running(elastic(2, 2, 1, 0), limits);
  driver.agent_ended(worker(2));
  driver.agent_ended(worker(2));
  EXPECT_EQ(driver.agent_ended(worker(2)), "warn");
  EXPECT_THAT(driver.warning(), HasSubstr("no other one is requested"));
  EXPECT_EQ(driver.phase(worker(2)), Phase::kGone);
  // Nor in the generations that follow.
  EXPECT_EQ(driver.port_lost(worker(1)), "end w0 w1");
}

TEST(SpareTest, ThatDoesNotReportIsReplaced) {
  Driver driver = running(elastic(1, 1, 1, 0));
  driver.agent_ended(worker(1));
  driver.allocated(worker(1));
  EXPECT_EQ(driver.expire(), "warn; end w1#2");
  EXPECT_EQ(driver.gang().state(), job::JobState::kRunning);
  EXPECT_EQ(driver.agent_ended(worker(1)), "allocate w1#3");
}

TEST(SpareTest, ThatCannotBeSeenToEndIsGivenUp) {
  Driver driver = running(elastic(1, 1, 1, 0));
  driver.agent_ended(worker(1));
  driver.allocated(worker(1));
  driver.expire();
  EXPECT_EQ(driver.expire(), "kill w1#2");
  EXPECT_EQ(driver.expire(), "warn");
  EXPECT_TRUE(driver.gang().find(worker(1))->dropped);
  EXPECT_EQ(driver.gang().state(), job::JobState::kRunning);
}

TEST(SpareTest, ThatComesWhileALostTaskIsAwaitedTakesItsPlace) {
  Driver driver = running(elastic(2, 2, 1));
  driver.agent_ended(worker(2));
  EXPECT_EQ(driver.agent_ended(worker(1)), "warn; allocate w1#2");
  EXPECT_EQ(driver.reported(worker(2)), "stop w0");
  EXPECT_EQ(driver.exited(worker(0), 0), "warn; publish 2; start@2 w0#2 w2#2");
}

TEST(SpareTest, StepsForwardOnceMoreWhenNoRestartIsLeft) {
  Driver driver = running(elastic(2, 2, 1, 0));
  EXPECT_EQ(driver.agent_ended(worker(1)), "warn; stop w0");
  EXPECT_THAT(
      driver.warning(),
      HasSubstr("worker:1 on host-worker lost its agent, which was killed by signal 9 (kill); "
                "no restart is left, the job continues without it"));
  EXPECT_EQ(driver.exited(worker(0), 143), "warn; publish 2; start@2 w0#2 w2");
  EXPECT_EQ(driver.agent_ended(worker(2)), "end w0");
}

TEST(SpareTest, ReplacesATaskThatIsLateAtTheRollCall) {
  job::JobSpec spec = elastic(2, 2, 1);
  spec.timeouts.shrink = seconds(10);
  Driver driver(spec);
  driver.step(Begin{});
  driver.reported(worker(2));
  driver.pass(seconds(3));
  driver.reported(worker(0));
  EXPECT_EQ(*driver.gang().next_deadline(), driver.now() + seconds(10));
  EXPECT_EQ(driver.expire(), "warn; publish 1; start@1 w0 w2");
  EXPECT_EQ(driver.reported(worker(1)), "");
}

TEST(SpareTest, ReplacesATaskThatIsLostBeforeTheRollCall) {
  Driver driver(elastic(2, 2, 1));
  driver.step(Begin{});
  driver.reported(worker(0));
  driver.reported(worker(2));
  EXPECT_EQ(driver.agent_ended(worker(1)), "warn; allocate w1#2; warn; publish 1; start@1 w0 w2");
}

TEST(SpareTest, ReplacesARegisteredTaskThatIsSilent) {
  Driver driver = running(elastic(2, 2, 1, 3, job::RestartScope::kGang));
  driver.exited(worker(1), 1);
  driver.session_lost(worker(1));
  EXPECT_EQ(driver.exited(worker(0), 143), "warn; publish 2; start@2 w0#2 w2");
  EXPECT_EQ(driver.reattached(worker(1)), "");
  EXPECT_EQ(state_of(*driver.gang().find(worker(1))), job::TaskState::kSpare);
}

TEST(SpareTest, EndsWithTheOthersAndNeverMatters) {
  Driver driver = running(elastic(2, 2, 1));
  driver.exited(worker(0), 0);
  EXPECT_EQ(driver.exited(worker(1), 0), "end w2; end-at-once w0 w1");
  EXPECT_EQ(driver.agent_ended(worker(2)), "");
  driver.agent_ended(worker(0));
  EXPECT_EQ(driver.agent_ended(worker(1)), "finish succeeded");
  Driver failed = running(elastic(2, 2, 1, 0));
  failed.pass(seconds(1));
  failed.exited(worker(0), 3);
  // Its agent died before it was asked to end: no cause of anything.
  failed.step(job::AgentEnded{worker(2),
                              1,
                              {.reason = job::Reason::kAgentEnded, .detail = "died"},
                              failed.now() - seconds(1)});
  failed.agent_ended(worker(1));
  failed.agent_ended(worker(0));
  EXPECT_EQ(failed.cause(), "worker:0 on host-worker exited with status 3");
}

// --- gangs that are smaller

TEST(ElasticTest, StartsWithFewerWhenTheRestIsLate) {
  Driver driver(elastic(4, 2));
  driver.step(Begin{});
  EXPECT_EQ(driver.reported(worker(0)), "");
  driver.pass(seconds(9));
  driver.reported(worker(2));
  EXPECT_EQ(*driver.gang().next_deadline(), driver.now() + seconds(10));
  EXPECT_EQ(driver.gang().waiting_for(driver.now()),
            "a place for worker:1, worker:3 (2 of 4 tasks have one); limit in 10 s");
  EXPECT_EQ(driver.expire(), "warn; publish 1; start@1 w0 w2");
  EXPECT_EQ(driver.warning(), "the gang has 2 of 4 tasks of the type worker");
  EXPECT_EQ(driver.members("worker"), "w0 w2");
}

TEST(ElasticTest, WaitsForTheOthersWithoutALimitAndSaysSo) {
  Driver driver(elastic(3, 2));
  driver.step(Begin{});
  driver.reported(worker(0));
  driver.reported(worker(1));
  driver.step(ClusterWaiting{"the queue is full"});
  driver.expire();
  driver.started(worker(0));
  driver.started(worker(1));
  EXPECT_FALSE(driver.gang().next_deadline());
  EXPECT_EQ(driver.gang().waiting_for(driver.now()), "room for worker:2 (the queue is full)");
  EXPECT_EQ(driver.gang().state(), job::JobState::kRunning);
}

TEST(ElasticTest, ShrinksWhenALostTaskIsNotBackInTime) {
  Driver driver = running(elastic(4, 2));
  EXPECT_EQ(driver.agent_ended(worker(1)), "warn; allocate w1#2");
  EXPECT_EQ(driver.phase(worker(0)), Phase::kRunning);
  EXPECT_EQ(*driver.gang().next_deadline(), driver.now() + seconds(10));
  EXPECT_EQ(driver.expire(), "stop w0 w2 w3");
  driver.exited(worker(0), 143);
  driver.exited(worker(2), 143);
  EXPECT_EQ(driver.exited(worker(3), 143), "warn; publish 2; start@2 w0#2 w2#2 w3#2");
  EXPECT_EQ(driver.warning(), "the gang has 3 of 4 tasks of the type worker");
  EXPECT_EQ(driver.members("worker"), "w0 w2 w3");
  EXPECT_EQ(driver.gang().restarts_used(), 1);
}

TEST(ElasticTest, ScopeGangShrinksFromItsRestart) {
  Driver driver = running(elastic(3, 2, 0, 3, job::RestartScope::kGang));
  EXPECT_EQ(driver.agent_ended(worker(1)), "warn; stop w0; allocate w1#2; stop w2");
  driver.exited(worker(0), 143);
  driver.exited(worker(2), 143);
  EXPECT_EQ(driver.expire(), "warn; publish 2; start@2 w0#2 w2#2");
}

TEST(ElasticTest, ALostTaskThatIsBackInTimeChangesNothing) {
  Driver driver = running(elastic(4, 2));
  driver.agent_ended(worker(1));
  driver.pass(seconds(5));
  EXPECT_EQ(driver.reported(worker(1)), "start@1 w1#2");
  driver.started(worker(1));
  EXPECT_FALSE(driver.gang().next_deadline());
}

TEST(ElasticTest, DoesNotShrinkBelowItsLeast) {
  Driver driver = running(elastic(3, 2));
  driver.agent_ended(worker(1));
  driver.pass(seconds(1));
  driver.agent_ended(worker(2));
  EXPECT_EQ(*driver.gang().next_deadline(), driver.now() + minutes(10) - seconds(1));
  EXPECT_EQ(driver.expire(), "warn");  // one may be away for longer, not both
  EXPECT_THAT(driver.warning(), HasSubstr("worker:1 got no place within 10 min"));
  Driver other = driver;
  EXPECT_EQ(driver.reported(worker(2)), "start@1 w2#2");
  EXPECT_EQ(*driver.gang().next_deadline(), driver.now() + seconds(10));
  EXPECT_EQ(other.expire(), "end w0 w1#2 w2#2");
}

TEST(ElasticTest, GrowsWhenAllHaveComeAndTheLastGenerationIsOldEnough) {
  Driver driver(elastic(3, 1));
  driver.step(Begin{});
  driver.reported(worker(1));
  driver.expire();
  driver.started(worker(1));
  driver.pass(seconds(2));
  EXPECT_EQ(driver.reported(worker(0)), "");
  EXPECT_EQ(*driver.gang().next_deadline(), driver.now() + seconds(10));
  driver.pass(seconds(3));
  EXPECT_EQ(driver.reported(worker(2)), "");
  EXPECT_EQ(*driver.gang().next_deadline(), driver.now() + seconds(5));
  EXPECT_EQ(driver.gang().waiting_for(driver.now()),
            "the time to restart with worker:0, worker:2; limit in 5.0 s");
  EXPECT_EQ(driver.expire(), "stop w1");
  EXPECT_EQ(driver.exited(worker(1), 143), "warn; publish 2; start@2 w0 w1#2 w2");
  EXPECT_EQ(driver.warning(), "the gang has 3 of 3 tasks of the type worker");
  EXPECT_TRUE(driver.gang().cluster_spec().members.empty());
  EXPECT_EQ(driver.gang().restarts_used(), 0);
}

TEST(ElasticTest, GrowsAtOnceIntoAnOldGeneration) {
  Driver driver(elastic(2, 1));
  driver.step(Begin{});
  driver.reported(worker(0));
  driver.expire();
  driver.started(worker(0));
  driver.pass(minutes(5));
  EXPECT_EQ(driver.reported(worker(1)), "stop w0");
}

TEST(ElasticTest, DoesNotGrowOnceATaskHasSucceeded) {
  Driver driver(elastic(3, 2));
  driver.step(Begin{});
  driver.reported(worker(0));
  driver.reported(worker(1));
  driver.expire();
  driver.started(worker(0));
  driver.started(worker(1));
  driver.exited(worker(0), 0);
  driver.pass(minutes(1));
  EXPECT_EQ(driver.reported(worker(2)), "");
  EXPECT_FALSE(driver.gang().next_deadline());
  EXPECT_EQ(driver.exited(worker(1), 0), "end w2; end-at-once w0 w1");
  driver.all_gone();
  EXPECT_EQ(driver.gang().state(), job::JobState::kSucceeded);
}

TEST(ElasticTest, SucceedsWithTheMembersOfItsLastGeneration) {
  Driver driver(elastic(3, 2));
  driver.step(Begin{});
  driver.reported(worker(0));
  driver.reported(worker(1));
  driver.expire();
  driver.exited(worker(0), 0);
  EXPECT_EQ(driver.exited(worker(1), 0), "end w2; end-at-once w0 w1");
  driver.agent_ended(worker(0));
  driver.agent_ended(worker(1));
  EXPECT_EQ(driver.agent_ended(worker(2)), "finish succeeded");
}

TEST(ElasticTest, ALostAgentIsGivenUpWhenNoRestartIsLeft) {
  Driver driver = running(elastic(3, 2, 0, 0));
  EXPECT_EQ(driver.agent_ended(worker(0)), "warn; stop w1 w2");
  driver.exited(worker(1), 143);
  // Nobody is awaited: there is nobody to come.
  EXPECT_EQ(driver.exited(worker(2), 143), "warn; publish 2; start@2 w1#2 w2#2");
  EXPECT_EQ(driver.phase(worker(0)), Phase::kGone);
  driver.started(worker(1));
  driver.started(worker(2));
  EXPECT_EQ(driver.gang().waiting_for(driver.now()), "");
  EXPECT_EQ(driver.agent_ended(worker(1)), "end w2");
  EXPECT_EQ(driver.agent_ended(worker(2)), "finish failed");
  EXPECT_THAT(driver.cause(), HasSubstr("worker:1 on host-worker"));
}

TEST(ElasticTest, ACommandThatFailsWhenNoRestartIsLeftFailsTheJob) {
  Driver driver = running(elastic(3, 1, 1, 0));
  EXPECT_EQ(driver.exited(worker(0), 1), "end-at-once w0; end w1 w2 w3");
}

TEST(ElasticTest, TheOnlyMissingOnesOfAllTypesDecideTogether) {
  job::JobSpec spec = job_of({elastic_type("worker", 2, 1), task_type("ps")});
  spec.restarts = at_once(3, job::RestartScope::kTask);
  Driver driver = running(spec);
  driver.agent_ended(worker(1));
  driver.agent_ended({"ps", 0});
  // Without its ps the gang cannot start again: it goes on until that is back.
  EXPECT_EQ(*driver.gang().next_deadline(), driver.now() + minutes(10));
  driver.pass(seconds(20));
  EXPECT_EQ(driver.reported({"ps", 0}), "start@1 p0#2");
  EXPECT_EQ(*driver.gang().next_deadline(), driver.now() + seconds(10));
  EXPECT_EQ(driver.expire(), "stop w0 p0#2");
}

TEST(ElasticTest, AShortAllocationLimitIsNoFailureWhileTheOthersSuffice) {
  job::JobSpec spec = elastic(3, 2);
  spec.timeouts.allocation = seconds(5);
  Driver driver(spec);
  driver.step(Begin{});
  driver.reported(worker(0));
  driver.reported(worker(1));
  EXPECT_EQ(driver.expire(), "warn");
  EXPECT_EQ(driver.warning(),
            "worker:2 got no place within 5.0 s (timeouts.allocation); the job continues without "
            "it until it has one");
  EXPECT_EQ(driver.expire(), "warn; publish 1; start@1 w0 w1");
}

TEST(ElasticTest, TooFewAtTheFirstRollCallFail) {
  Driver driver(elastic(3, 2));
  driver.step(Begin{});
  driver.reported(worker(0));
  EXPECT_EQ(driver.expire(), "warn; end w0 w1 w2");
}

TEST(ElasticTest, ATaskThatCannotBeStoppedForTheSmallerGangFailsTheJob) {
  Driver driver = running(elastic(3, 2));
  driver.agent_ended(worker(2));
  EXPECT_EQ(driver.expire(), "stop w0 w1");
  driver.exited(worker(0), 143);
  EXPECT_EQ(driver.expire(), "kill w1");
  EXPECT_THAT(driver.expire(), HasSubstr("warn; end w0"));
}

TEST(ElasticTest, GrowthThatLosesItsNewTaskGoesOnAsBefore) {
  Driver driver(elastic(2, 1));
  driver.step(Begin{});
  driver.reported(worker(0));
  driver.expire();
  driver.started(worker(0));
  driver.pass(minutes(1));
  EXPECT_EQ(driver.reported(worker(1)), "stop w0");
  EXPECT_EQ(driver.agent_ended(worker(1)), "warn; allocate w1#2");
  EXPECT_EQ(driver.exited(worker(0), 143), "");
  EXPECT_EQ(driver.expire(), "publish 2; start@2 w0#2");
}

TEST(ElasticTest, CopiesGoOnAlike) {
  Driver driver = running(elastic(3, 2, 1));
  Gang copy = driver.gang();
  driver.agent_ended(worker(1));
  const Event event = job::AgentEnded{
      worker(1), 1, {.reason = job::Reason::kAgentEnded, .signal = 9}, driver.now()};
  EXPECT_EQ(copy.step(event, driver.now()), driver.decisions());
  EXPECT_TRUE(copy == driver.gang());
}

}  // namespace
}  // namespace gangrun::gang
