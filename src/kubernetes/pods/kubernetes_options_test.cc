#include "kubernetes/pods/kubernetes_options.h"

#include <gtest/gtest.h>

#include <chrono>

namespace gangrun::kubernetes::pods {
namespace {

TEST(TimeForPods, IsThatForNodesOnlyWhereNoAgentIsToReport) {
  job::JobSpec job;
  job.timeouts.allocation = std::chrono::minutes(7);
  job.timeouts.hold = std::chrono::minutes(3);
  job.timeouts.roll_call = std::chrono::minutes(2);
  edit_kubernetes(job).agents = AgentsBy::kNone;
  EXPECT_EQ(with_time_for_pods(job).timeouts.roll_call, std::chrono::minutes(12));
  edit_kubernetes(job).agents.reset();
  EXPECT_EQ(with_time_for_pods(job).timeouts.roll_call, std::chrono::minutes(9));
  EXPECT_EQ(with_time_for_pods(job).timeouts.allocation, std::chrono::minutes(7));
}

}  // namespace
}  // namespace gangrun::kubernetes::pods
