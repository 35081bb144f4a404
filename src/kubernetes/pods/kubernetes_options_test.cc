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

TEST(WasStartedWithAgents, IsWhatTheVersionMeantThatStartedIt) {
  job::JobSpec job;
  EXPECT_FALSE(was_started_with_agents(job));
  edit_kubernetes(job).agent_image = "agents:1";
  EXPECT_TRUE(was_started_with_agents(job));
  edit_kubernetes(job).agents = AgentsBy::kNone;
  EXPECT_FALSE(was_started_with_agents(job));
  edit_kubernetes(job).agents = AgentsBy::kConfigMaps;
  EXPECT_TRUE(was_started_with_agents(job));
}

}  // namespace
}  // namespace gangrun::kubernetes::pods
