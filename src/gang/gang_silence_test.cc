#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "gang/gang_driver.h"

// A host of which nothing is heard while the job ends: Ctrl-C took 51 s where one was frozen.
namespace gangrun::gang {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

job::TaskId worker(int index) { return {"worker", index}; }

// A gang on two hosts: worker:0 is on "good", the others are on "frozen".
Driver on_two_hosts() {
  Driver driver(job_of({task_type("worker", 3)}));
  driver.step(Begin{});
  driver.reported_on(worker(0), "good");
  driver.reported_on(worker(1), "frozen");
  driver.reported_on(worker(2), "frozen");
  for (int index = 0; index < 3; ++index) driver.started(worker(index));
  return driver;
}

const HostSilent kSilent{"frozen", {{"worker", 1}, {"worker", 2}, {"stranger", 0}}};

TEST(SilentHost, HasTheTimeOfItsLeaseWhileTheJobGoesOn) {
  Driver driver = on_two_hosts();
  const Gang before = driver.gang();
  EXPECT_FALSE(driver.gang().matters(kSilent, driver.now()));
  EXPECT_EQ(driver.step(kSilent), "");
  EXPECT_EQ(driver.phase(worker(1)), Phase::kRunning);
}

TEST(SilentHost, IsNotWaitedForOnceAllIsToEnd) {
  Driver driver = on_two_hosts();
  EXPECT_EQ(driver.step(StopRequested{"Ctrl-C"}), "end w0 w1 w2");
  EXPECT_TRUE(driver.gang().matters(kSilent, driver.now()));
  EXPECT_EQ(driver.step(kSilent), "warn");
  EXPECT_THAT(driver.warnings(),
              ElementsAre(HasSubstr("the tasks on host frozen ended (worker:1, worker:2)")));
  EXPECT_EQ(state_of(*driver.gang().find(worker(1))), job::TaskState::kLost);
  // It is told of once, and the others have their time.
  EXPECT_FALSE(driver.gang().matters(kSilent, driver.now()));
  EXPECT_EQ(driver.phase(worker(0)), Phase::kEnding);
  EXPECT_EQ(driver.agent_ended(worker(0)), "finish killed");
}

TEST(SilentHost, IsTheLastThatAFailedJobWaitsFor) {
  Driver driver = on_two_hosts();
  EXPECT_EQ(driver.exited(worker(0), 3), "end-at-once w0; end w1 w2");
  driver.agent_ended(worker(0));
  EXPECT_EQ(driver.step(kSilent), "warn; finish failed");
}

TEST(SilentHost, LeavesWhatIsKnownOfItsTasks) {
  Driver driver = on_two_hosts();
  for (int index = 0; index < 3; ++index) driver.exited(worker(index), 0);
  driver.agent_ended(worker(0));
  EXPECT_EQ(driver.step(kSilent), "warn; finish succeeded");
  EXPECT_EQ(state_of(*driver.gang().find(worker(2))), job::TaskState::kSucceeded);
}

TEST(SilentHost, MayBeOneThatATaskIsOnlyBeingStartedOn) {
  Driver driver(job_of({task_type("worker", 1)}));
  driver.step(Begin{});
  EXPECT_EQ(driver.step(StopRequested{"Ctrl-C"}), "end w0");
  EXPECT_EQ(driver.step(HostSilent{"frozen", {worker(0)}}), "warn; finish killed");
}

}  // namespace
}  // namespace gangrun::gang
