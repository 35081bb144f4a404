#include "local/commands/machine_checks.h"

#include <gtest/gtest.h>

namespace gangrun::local::commands {
namespace {

TEST(AsksForMemoryOrCores, OfAnyTaskThatIsNotAsUsual) {
  job::JobSpec spec;
  spec.tasks.resize(2);
  for (job::TaskSpec& task : spec.tasks) task.instances = 2;
  EXPECT_FALSE(asks_for_memory_or_cores(spec));
  spec.tasks[1].resources.vcores = 2;
  EXPECT_TRUE(asks_for_memory_or_cores(spec));
  spec.tasks[1].resources = {};
  spec.tasks[0].resources.memory_mib = 1024;
  EXPECT_TRUE(asks_for_memory_or_cores(spec));
  spec.tasks[0].resources = {};
  spec.tasks[0].resources.gpus = 1;
  EXPECT_FALSE(asks_for_memory_or_cores(spec));
}

}  // namespace
}  // namespace gangrun::local::commands
