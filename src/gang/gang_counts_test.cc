#include <gtest/gtest.h>

#include "gang/gang_driver.h"
#include "job/test_tasks.h"

namespace gangrun::gang {

namespace {

const job::TaskId kFirst{"worker", 0};
const job::TaskId kSecond{"worker", 1};

// The counts stay right through every way in which a task's state changes: the questions
// that are answered by counts get the answers that the tasks themselves give.
void expect_right(const Gang& gang) {
  bool started = true;
  bool asked = false;
  for (const Task& task : gang.tasks()) {
    if (!task.member) continue;
    started &= task.has_run && task.phase != Phase::kStarting;
    asked |= task.phase == Phase::kAsked;
  }
  EXPECT_EQ(gang.all_started(), started);
  EXPECT_EQ(gang.state() == job::JobState::kAllocating, asked && !started);
}

TEST(GangCounts, FollowATaskFromItsPlaceToItsEnd) {
  Driver driver(job_of({task_type("chief"), task_type("worker", 2)}));
  driver.step(Begin{});
  expect_right(driver.gang());
  for (const job::TaskId& task : {job::kChief, kFirst, kSecond}) {
    driver.allocated(task);
    expect_right(driver.gang());
    driver.reported(task);
  }
  for (const job::TaskId& task : {kSecond, job::kChief, kFirst}) {
    EXPECT_FALSE(driver.gang().all_started());
    driver.started(task);
    expect_right(driver.gang());
  }
  EXPECT_TRUE(driver.gang().all_started());
}

TEST(GangCounts, FollowAGangThroughItsRestart) {
  job::JobSpec spec = job_of({task_type("worker", 2)});
  spec.restarts.max = 1;
  spec.restarts.scope = job::RestartScope::kGang;
  Driver driver(spec);
  driver.run_all();
  EXPECT_TRUE(driver.gang().all_started());
  driver.exited(kFirst, 1);
  EXPECT_EQ(driver.gang().state(), job::JobState::kRestarting);
  driver.exited(kSecond, 143);
  EXPECT_EQ(driver.gang().state(), job::JobState::kRunning);
  EXPECT_FALSE(driver.gang().all_started());
  driver.started(kFirst);
  driver.started(kSecond);
  EXPECT_TRUE(driver.gang().all_started());
}

}  // namespace

}  // namespace gangrun::gang
