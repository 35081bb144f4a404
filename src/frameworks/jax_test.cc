#include <gtest/gtest.h>

#include "frameworks/jobs_for_tests.h"
#include "frameworks/variables_of.h"

namespace gangrun::frameworks {
namespace {

using test::job_of;
using test::only;
using test::task_of;
using test::variables_of;

TEST(Jax, TheFirstRankIsTheCoordinator) {
  auto job = job_of({task_of("worker", 2, 2), task_of("chief", 1), task_of("ps", 1)});
  job.frameworks = {{job::Framework::kJax}};
  EXPECT_EQ(only(variables_of(job, {"worker", 1}, 1), {"JAX_"}),
            Variables({{"JAX_COORDINATOR_ADDRESS", "h2:2000"},
                       {"JAX_NUM_PROCESSES", "5"},
                       {"JAX_PROCESS_ID", "4"}}));
  EXPECT_EQ(only(variables_of(job, {"ps", 0}), {"JAX_", "OMPI_", "error"}), Variables{});
}

// jax.distributed.initialize() without arguments knows other launchers only.
TEST(Jax, AJobThatNamesItIsDetected) {
  auto job = job_of({task_of("worker", 2, 2), task_of("chief", 1)});
  EXPECT_EQ(only(variables_of(job, {"worker", 1}, 1), {"OMPI_"}), Variables{});
  job.frameworks = {{job::Framework::kJax}};
  EXPECT_EQ(only(variables_of(job, {"worker", 1}, 1), {"OMPI_"}),
            Variables({{"OMPI_MCA_orte_hnp_uri", "0.0;tcp://h2:2000"},
                       {"OMPI_COMM_WORLD_SIZE", "5"},
                       {"OMPI_COMM_WORLD_RANK", "4"},
                       {"OMPI_COMM_WORLD_LOCAL_SIZE", "2"},
                       {"OMPI_COMM_WORLD_LOCAL_RANK", "1"}}));
}

TEST(Jax, TheGpusOfATaskAreSharedAmongItsProcesses) {
  auto job = job_of({task_of("worker", 2, 2)});
  job.frameworks = {{job::Framework::kJax}};
  const std::vector<std::string> ids{"JAX_LOCAL_DEVICE_IDS"};
  EXPECT_EQ(only(variables_of(job, {"worker", 0}, 1), ids), Variables{});
  job.tasks[0].resources.gpus = 4;
  job.tasks[0].overrides[1].gpus = 1;
  EXPECT_EQ(only(variables_of(job, {"worker", 0}, 0), ids), Variables({{ids[0], "0,1"}}));
  EXPECT_EQ(only(variables_of(job, {"worker", 0}, 1), ids), Variables({{ids[0], "2,3"}}));
  EXPECT_EQ(only(variables_of(job, {"worker", 1}, 1), ids), Variables{});
  job.tasks[0].processes = 1;
  EXPECT_EQ(only(variables_of(job, {"worker", 0}), ids), Variables({{ids[0], "0,1,2,3"}}));
}

}  // namespace
}  // namespace gangrun::frameworks
