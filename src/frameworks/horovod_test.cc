#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "frameworks/jobs_for_tests.h"
#include "frameworks/variables_of.h"

namespace gangrun::frameworks {
namespace {

using test::job_of;
using test::only;
using test::task_of;
using testing::ElementsAre;

job::JobSpec with_horovod(std::vector<job::TaskSpec> tasks) {
  auto job = job_of(std::move(tasks));
  job.frameworks = {{job::Framework::kHorovod}};
  return job;
}

// Two workers with two processes each on one host, and a chief on another.
const job::ClusterSpec kCluster{
    1, {{"worker", {{"10.0.0.7", 1}, {"10.0.0.7", 2}}}, {"chief", {{"10.0.0.8", 3}}}}};

Variables variables_of_rank(const job::JobSpec& job, const job::TaskId& task, int process) {
  const auto found = environment_of({.job = job,
                                     .cluster = kCluster,
                                     .job_id = "j1",
                                     .rendezvous_port = 4711,
                                     .interface = "eth1"},
                                    task, process);
  return found.ok() ? found->variables : Variables{{"error", found.error().message}};
}

TEST(Horovod, SetsWhatItsOwnLauncherSets) {
  const auto job = with_horovod({task_of("worker", 2, 2), task_of("chief", 1)});
  EXPECT_EQ(only(variables_of_rank(job, {"worker", 1}, 0), {"HOROVOD_", "error"}),
            Variables({{"HOROVOD_RANK", "3"},
                       {"HOROVOD_SIZE", "5"},
                       {"HOROVOD_LOCAL_RANK", "2"},
                       {"HOROVOD_LOCAL_SIZE", "4"},
                       {"HOROVOD_CROSS_RANK", "0"},
                       {"HOROVOD_CROSS_SIZE", "1"},
                       {"HOROVOD_HOSTNAME", "10.0.0.7"},
                       {"HOROVOD_CONTROLLER", "gloo"},
                       {"HOROVOD_CPU_OPERATIONS", "gloo"},
                       {"HOROVOD_GLOO_RENDEZVOUS_ADDR", "127.0.0.1"},
                       {"HOROVOD_GLOO_RENDEZVOUS_PORT", "4711"},
                       {"HOROVOD_GLOO_TIMEOUT_SECONDS", "300"},
                       {"HOROVOD_GLOO_IFACE", "eth1"}}));
}

TEST(Horovod, NothingOfTheOtherFrameworksIsThere) {
  const auto job = with_horovod({task_of("worker", 2, 2), task_of("chief", 1)});
  EXPECT_EQ(
      only(variables_of_rank(job, {"chief", 0}, 0), {"TF_", "DTF_", "RANK", "MASTER_", "JAX_"}),
      Variables{});
}

TEST(Horovod, OnlyWhereItIsNamed) {
  auto job = job_of({task_of("worker", 2, 2), task_of("chief", 1)});
  EXPECT_EQ(only(variables_of_rank(job, {"chief", 0}, 0), {"HOROVOD_", "error"}), Variables{});
  EXPECT_FALSE(needs_rendezvous(job, {"chief", 0}));
  job.frameworks = {{job::Framework::kHorovod, job::Framework::kPytorch}};
  EXPECT_TRUE(needs_rendezvous(job, {"chief", 0}));
  EXPECT_EQ(variables_of_rank(job, {"chief", 0}, 0)["HOROVOD_RANK"], "0");
}

TEST(Horovod, TasksWithoutARankSeeNothingOfIt) {
  const auto job =
      with_horovod({task_of("worker", 2, 2), task_of("chief", 1), task_of("tensorboard", 1)});
  const job::TaskId board{"tensorboard", 0};
  EXPECT_FALSE(needs_rendezvous(job, board));
  const auto found = environment_of({.job = job,
                                     .cluster = kCluster,
                                     .job_id = "j1",
                                     .own_address = job::Address{"10.0.0.8", 9},
                                     .rendezvous_port = 4711},
                                    board, 0);
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(only(found->variables, {"HOROVOD_"}), Variables{});
}

// a: ranks 0, 2, 3; b: rank 1; c: ranks 4, 5.
TEST(HostRanks, CountByHostWhateverTheTask) {
  const auto job = job_of({task_of("worker", 6), task_of("ps", 1)});
  const job::ClusterSpec cluster{
      1,
      {{"worker", {{"a", 1}, {"b", 1}, {"a", 2}, {"a", 3}, {"c", 1}, {"c", 2}}},
       {"ps", {{"b", 9}}}}};
  const auto groups = *groups_of(job, cluster);
  std::vector<HostRanks> found;
  for (int rank = 0; rank < 6; ++rank) found.push_back(host_ranks_of(rank, groups));
  EXPECT_THAT(found,
              ElementsAre(HostRanks{0, 3, 0, 3}, HostRanks{0, 1, 1, 3}, HostRanks{1, 3, 0, 2},
                          HostRanks{2, 3, 0, 1}, HostRanks{0, 2, 2, 3}, HostRanks{1, 2, 1, 2}));
}

}  // namespace
}  // namespace gangrun::frameworks
