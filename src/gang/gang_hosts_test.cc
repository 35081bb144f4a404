// A host on which tasks failed again and again is left and avoided.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "gang/gang_driver.h"

namespace gangrun::gang {
namespace {

using std::chrono::minutes;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

job::TaskId worker_at(int index) { return {"worker", index}; }

job::JobSpec two_hosted_workers(int max = 10) {
  job::JobSpec spec = job_of({task_type("worker", 2)});
  spec.restarts = at_once(max, job::RestartScope::kTask);
  return spec;
}

Driver on_two_hosts(const job::JobSpec& spec) {
  Driver driver(spec);
  driver.step(Begin{});
  driver.reported_on(worker_at(0), "good");
  driver.reported_on(worker_at(1), "bad");
  driver.started(worker_at(0));
  driver.started(worker_at(1));
  return driver;
}

TEST(BadHostTest, IsLeftAndAvoidedAfterThreeFailures) {
  Driver driver = on_two_hosts(two_hosted_workers());
  for (int i = 0; i < 2; ++i) {
    EXPECT_THAT(driver.exited(worker_at(1), 1), HasSubstr("warn; start@1 w1"));
    driver.started(worker_at(1));
  }
  EXPECT_EQ(driver.exited(worker_at(1), 1), "warn; end-at-once w1; stop w0");
  EXPECT_THAT(driver.warnings(),
              Contains("bad is avoided for 10 min: 3 failures there within 10 min"));
  driver.exited(worker_at(0), 143);
  EXPECT_EQ(driver.agent_ended(worker_at(1)), "allocate w1#4");
  EXPECT_THAT(driver.asked().avoided, ElementsAre("bad"));
  EXPECT_FALSE(driver.asked().wanted);
  EXPECT_EQ(driver.reported_on(worker_at(1), "good"), "publish 2; start@2 w0#2 w1#4");
}

// A pod's own name was avoided for 10 min.
TEST(BadHostTest, ThePlaceThatNamesNoHostHasNoneToAvoid) {
  Driver driver(two_hosted_workers());
  driver.step(Begin{});
  for (int i = 0; i < 5; ++i) {
    driver.reported_on(worker_at(0), "");
    EXPECT_EQ(driver.gang().find(worker_at(0))->host, "");
    driver.agent_ended(worker_at(0), false);
    EXPECT_THAT(driver.asked().avoided, IsEmpty());
  }
  EXPECT_THAT(driver.warnings(), Not(Contains(HasSubstr("avoided"))));
}

TEST(BadHostTest, LostAgentsMakeItToo) {
  Driver driver = on_two_hosts(two_hosted_workers());
  for (int i = 0; i < 2; ++i) {
    driver.agent_ended(worker_at(1), false);
    EXPECT_THAT(driver.asked().avoided, IsEmpty());
    EXPECT_TRUE(driver.asked().wanted);
    driver.reported_on(worker_at(1), "bad");
  }
  driver.agent_ended(worker_at(1), false);
  EXPECT_THAT(driver.asked().avoided, ElementsAre("bad"));
}

TEST(BadHostTest, ServesAgainAfterItsCoolDown) {
  Driver driver = on_two_hosts(two_hosted_workers());
  for (int i = 0; i < 3; ++i) {
    driver.agent_ended(worker_at(1));
    driver.reported_on(worker_at(1), "bad");
  }
  driver.pass(minutes(10));
  driver.agent_ended(worker_at(1));
  EXPECT_THAT(driver.asked().avoided, IsEmpty());
}

TEST(BadHostTest, TheOnlyOneIsNotAvoided) {
  Driver driver(two_hosted_workers());
  driver.run_all();
  for (int i = 0; i < 5; ++i) {
    EXPECT_THAT(driver.exited(worker_at(1), 1), HasSubstr("start@1"));
    driver.started(worker_at(1));
  }
}

TEST(BadHostTest, AFailureOfTheScriptWithoutARestartIsAFailure) {
  Driver driver = on_two_hosts(two_hosted_workers(2));
  for (int i = 0; i < 2; ++i) {
    driver.exited(worker_at(1), 1);
    driver.started(worker_at(1));
  }
  EXPECT_EQ(driver.exited(worker_at(1), 1), "warn; end w0; end-at-once w1");
}

}  // namespace
}  // namespace gangrun::gang
