// An agent's report of its run's end, and its own end after that, are one failure.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "gang/gang_driver.h"
#include "job/test_tasks.h"

namespace gangrun::gang {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr int kTerminated = 143;

Driver running_workers(int count, job::RestartScope scope, int max = 1) {
  job::JobSpec spec = job_of({task_type("worker", count)});
  spec.restarts = at_once(max, scope);
  return running(spec);
}

job::TaskId worker_of(int index) { return {"worker", index}; }

// One SIGTERM to an agent failed a job that had a restart left.
TEST(GangAgents, OneThatEndsAfterItsRunIsOneFailureOfTheGang) {
  Driver driver = running_workers(2, job::RestartScope::kGang);
  EXPECT_EQ(driver.exited(job::kWorker0, kTerminated), "warn; stop w1");
  EXPECT_EQ(driver.agent_ended(job::kWorker0), "allocate w0#2");
  EXPECT_EQ(driver.exited(job::kWorker1, kTerminated), "");
  EXPECT_EQ(driver.reported(job::kWorker0), "publish 2; start@2 w0#2 w1#2");
  EXPECT_EQ(driver.gang().restarts_used(), 1);
}

TEST(GangAgents, ThoseThatTheFirstProcessOfTheirHostTakesAlongAreOneFailureOfTheGang) {
  Driver driver = running_workers(4, job::RestartScope::kGang);
  EXPECT_EQ(driver.exited(worker_of(0), kTerminated), "warn; stop w1 w2 w3");
  EXPECT_EQ(driver.exited(worker_of(1), kTerminated), "");
  EXPECT_EQ(driver.agent_ended(worker_of(1)), "allocate w1#2") << "its run had ended";
  EXPECT_EQ(driver.agent_ended(worker_of(2)), "allocate w2#2") << "it was being stopped";
  EXPECT_EQ(driver.agent_ended(worker_of(0)), "allocate w0#2") << "its run was counted";
  EXPECT_EQ(driver.exited(worker_of(3), kTerminated), "");
  EXPECT_EQ(driver.agent_ended(worker_of(3)), "allocate w3#2");
  for (const int index : {0, 1, 2}) EXPECT_EQ(driver.reported(worker_of(index)), "");
  EXPECT_EQ(driver.reported(worker_of(3)), "publish 2; start@2 w0#2 w1#2 w2#2 w3#2");
  EXPECT_EQ(driver.gang().restarts_used(), 1);
  EXPECT_THAT(driver.warnings(), Not(Contains(HasSubstr("avoided"))));
}

// A task that ran again was told with the end of its run before.
TEST(GangAgents, TheEndOfARunIsNotThatOfTheNextOne) {
  for (const auto scope : {job::RestartScope::kTask, job::RestartScope::kGang}) {
    Driver driver = running_workers(1, scope);
    driver.exited(job::kWorker0, kTerminated);
    const auto* task = driver.gang().find(job::kWorker0);
    ASSERT_NE(task, nullptr);
    EXPECT_EQ(task->attempt, 2);
    EXPECT_EQ(task->exit, std::nullopt);
  }
}

// Without a pause its next run was decided before its end was known.
TEST(GangAgents, OneThatWasToldToStartAnewBeforeItsEndWasKnownCountsOnce) {
  for (const auto scope : {job::RestartScope::kTask, job::RestartScope::kGang}) {
    Driver driver = running_workers(1, scope);
    EXPECT_THAT(driver.exited(job::kWorker0, kTerminated), HasSubstr("w0#2"));
    EXPECT_EQ(driver.agent_ended(job::kWorker0), "warn; allocate w0#3");
    EXPECT_EQ(driver.gang().restarts_used(), 1);
  }
}

// Else a job whose agents never come to start anything would go on forever.
TEST(GangAgents, ANewOneThatEndsBeforeItHasRunAnythingCounts) {
  Driver driver = running_workers(2, job::RestartScope::kGang);
  driver.exited(job::kWorker0, kTerminated);
  driver.agent_ended(job::kWorker0);
  driver.exited(job::kWorker1, kTerminated);
  EXPECT_THAT(driver.agent_ended(job::kWorker0), HasSubstr("end"));
  EXPECT_EQ(driver.gang().verdict(), job::JobState::kFailed);
}

// Each is restarted for itself.
TEST(GangAgents, ThoseThatEndTogetherAreOneFailureEachWithScopeTask) {
  Driver driver = running_workers(3, job::RestartScope::kTask, 3);
  for (const int index : {0, 1, 2})
    EXPECT_THAT(driver.agent_ended(worker_of(index)), HasSubstr("#2"));
  EXPECT_EQ(driver.gang().restarts_used(), 3);
}

}  // namespace
}  // namespace gangrun::gang
