// The limits of a roll call, while a task's place gets what its job brings there.
#include <gtest/gtest.h>

#include "gang/gang_driver.h"
#include "job/test_tasks.h"

namespace gangrun::gang {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

Driver with_places(const job::JobSpec& spec) {
  Driver driver(spec);
  driver.step(Begin{});
  for (const Task& task : std::vector<Task>(driver.gang().tasks())) driver.allocated(task.id);
  return driver;
}

TEST(GangRollCall, HasItsTimeAgainWithEachProgressOfATaskThatHasAPlace) {
  job::JobSpec spec = job_of({task_type("worker", 2)});
  spec.timeouts.roll_call = minutes(2);
  Driver driver = with_places(spec);
  driver.reported(job::kWorker1);
  for (int i = 0; i < 3; ++i) {
    driver.pass(seconds(100));
    EXPECT_EQ(driver.step(Progress{job::kWorker0, 1}), "");
    EXPECT_EQ(*driver.gang().next_deadline(), driver.now() + minutes(2));
  }
  EXPECT_EQ(driver.reported(job::kWorker0), "publish 1; start@1 w0 w1");
}

TEST(GangRollCall, EndsInItsTimeAfterTheLastProgress) {
  job::JobSpec spec = job_of({task_type("worker", 2)});
  spec.timeouts.roll_call = minutes(2);
  Driver driver = with_places(spec);
  driver.pass(seconds(60));
  driver.step(Progress{job::kWorker0, 1});
  // The other one has none.
  EXPECT_EQ(*driver.gang().next_deadline(), driver.now() + seconds(60));
  EXPECT_EQ(driver.expire(), "end w0 w1");
  driver.all_gone();
  EXPECT_EQ(driver.reason(), job::Reason::kRollCallTimeout);
}

TEST(GangRollCall, ATaskThatGetsWhatItNeedsIsNotReplacedByASpare) {
  job::TaskSpec workers = task_type("worker", 2);
  workers.spares = 1;
  job::JobSpec spec = job_of({workers});
  spec.timeouts.shrink = seconds(10);
  Driver driver = with_places(spec);
  driver.reported(job::kWorker0);
  driver.reported({"worker", 2});
  for (int i = 0; i < 3; ++i) {
    driver.pass(seconds(8));
    EXPECT_EQ(driver.step(Progress{job::kWorker1, 1}), "");
    EXPECT_EQ(*driver.gang().next_deadline(), driver.now() + seconds(10));
  }
  EXPECT_EQ(driver.reported(job::kWorker1), "publish 1; start@1 w0 w1");
}

}  // namespace
}  // namespace gangrun::gang
