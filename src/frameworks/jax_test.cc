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
  EXPECT_EQ(only(variables_of(job, {"ps", 0}), {"JAX_", "error"}), Variables{});
}

}  // namespace
}  // namespace gangrun::frameworks
