#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "frameworks/jobs_for_tests.h"
#include "frameworks/variables_of.h"

namespace gangrun::frameworks {
namespace {

using test::job_of;
using test::only;
using test::task_of;
using test::variables_of;

const std::vector<std::string> kFamily{"MASTER_", "RANK",         "WORLD_", "LOCAL_", "GROUP_",
                                       "ROLE_",   "TORCHELASTIC", "OMP_",   "error"};

job::JobSpec trainers(int instances, int processes) {
  auto job = job_of({task_of("trainer", instances, processes), task_of("tensorboard", 1)});
  job.frameworks = {{job::Framework::kPytorch}};
  return job;
}

TEST(Pytorch, SeveralProcessesInATask) {
  EXPECT_EQ(only(variables_of(trainers(3, 2), {"trainer", 2}, 1, 2), kFamily),
            Variables({{"MASTER_ADDR", "h1"},
                       {"MASTER_PORT", "1000"},
                       {"RANK", "5"},
                       {"WORLD_SIZE", "6"},
                       {"LOCAL_RANK", "1"},
                       {"LOCAL_WORLD_SIZE", "2"},
                       {"GROUP_RANK", "2"},
                       {"GROUP_WORLD_SIZE", "3"},
                       {"ROLE_NAME", "trainer"},
                       {"ROLE_RANK", "5"},
                       {"ROLE_WORLD_SIZE", "6"},
                       {"TORCHELASTIC_RESTART_COUNT", "2"},
                       {"TORCHELASTIC_MAX_RESTARTS", "3"},
                       {"TORCHELASTIC_RUN_ID", "j1"},
                       {"TORCHELASTIC_USE_AGENT_STORE", "False"},
                       {"OMP_NUM_THREADS", "1"}}));
}

TEST(Pytorch, OneProcessKeepsItsThreads) {
  EXPECT_EQ(only(variables_of(trainers(2, 1), {"trainer", 0}), {"OMP_", "LOCAL_"}),
            Variables({{"LOCAL_RANK", "0"}, {"LOCAL_WORLD_SIZE", "1"}}));
}

TEST(Pytorch, InheritedThreadsStay) {
  const auto job = trainers(1, 2);
  const auto cluster = test::cluster_of(job);
  const auto found = environment_of({.job = job,
                                     .cluster = cluster,
                                     .job_id = "j1",
                                     .restarts = 0,
                                     .cluster_spec_file = "",
                                     .inherits_omp_num_threads = true},
                                    {"trainer", 0}, 1);
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(found->variables.count("OMP_NUM_THREADS"), 0U);
  EXPECT_EQ(found->variables.at("RANK"), "1");
}

TEST(Pytorch, ATaskWithoutARankHasNone) {
  EXPECT_EQ(only(variables_of(trainers(2, 1), {"tensorboard", 0}), kFamily), Variables{});
}

}  // namespace
}  // namespace gangrun::frameworks
