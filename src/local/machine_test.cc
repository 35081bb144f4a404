#include "local/machine.h"

#include <gmock/gmock.h>

namespace gangrun::local {
namespace {

using testing::HasSubstr;

const Machine kMachine{.memory_mib = 1000, .vcores = 4, .gpus = 2};

job::JobSpec spec_of(int instances, job::Resources resources) {
  job::JobSpec spec;
  job::TaskSpec& task = spec.tasks.emplace_back();
  task.type = "worker";
  task.instances = instances;
  task.resources = resources;
  return spec;
}

TEST(Machine, MemoryAndGpusAreOfTheWholeGang) {
  EXPECT_TRUE(check_fits(spec_of(2, {.memory_mib = 500, .gpus = 1}), kMachine).ok());
  const auto memory = check_fits(spec_of(2, {.memory_mib = 501}), kMachine);
  ASSERT_FALSE(memory.ok());
  EXPECT_THAT(memory.error().message, HasSubstr("1002 MiB of memory; this machine has 1000 MiB"));
  const auto gpus = check_fits(spec_of(3, {.gpus = 1}), kMachine);
  ASSERT_FALSE(gpus.ok());
  EXPECT_THAT(gpus.error().message, HasSubstr("3 GPUs; this machine has 2"));
}

TEST(Machine, CoresAreShared) {
  EXPECT_TRUE(check_fits(spec_of(9, {.vcores = 4}), kMachine).ok());
  const auto refused = check_fits(spec_of(2, {.vcores = 5}), kMachine);
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.error().message, HasSubstr("worker:0 asks for 5 vcores"));
}

TEST(Machine, ACgroupIsNamedWhereItIsTheLimit) {
  const Machine limited{.memory_mib = 300,
                        .vcores = 1,
                        .gpus = 0,
                        .memory_limited_by = "/sys/fs/cgroup/memory/job",
                        .vcores_limited_by = "/sys/fs/cgroup/cpu/job"};
  EXPECT_EQ(
      check_fits(spec_of(2, {.memory_mib = 1024}), limited).error().message,
      "the job asks for 2048 MiB of memory; this machine has 300 MiB, the limit of the cgroup "
      "/sys/fs/cgroup/memory/job");
  EXPECT_THAT(check_fits(spec_of(1, {.vcores = 2}), limited).error().message,
              HasSubstr("has 1, the limit of the cgroup /sys/fs/cgroup/cpu/job"));
}

TEST(Machine, SparesCountToo) {
  job::JobSpec spec = spec_of(1, {.memory_mib = 600});
  spec.tasks.front().spares = 1;
  EXPECT_FALSE(check_fits(spec, kMachine).ok());
}

}  // namespace
}  // namespace gangrun::local
