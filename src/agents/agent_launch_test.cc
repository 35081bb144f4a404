#include "agents/agent_launch.h"

#include <gtest/gtest.h>

namespace gangrun::agents {
namespace {

AgentLaunch launch() {
  AgentLaunch launch;
  launch.job_id = "j";
  launch.socket_path = "/run/j";
  launch.log_folder = "/logs";
  launch.fingerprint = "f";
  return launch;
}

TEST(AgentLaunch, AnAgentOfThisMachineComesByTheSocket) {
  const auto config = agent_config_of(launch(), {"worker", 3}, 2, 4000);
  EXPECT_EQ(config.socket_path, "/run/j");
  EXPECT_EQ(config.master_port, 0);
  EXPECT_EQ(config.attempt, 2);
  EXPECT_FALSE(config.sends_last_line_only);
  EXPECT_FALSE(config.is_fed);
  EXPECT_EQ(config.log_prefix, "/logs/worker-3");
}

TEST(AgentLaunch, OneOfAnotherMachineByTheCertificate) {
  AgentLaunch by_tls = launch();
  by_tls.socket_path.clear();
  by_tls.are_fed = true;
  const auto config = agent_config_of(by_tls, {"worker", 0}, 1, 4000);
  EXPECT_TRUE(config.socket_path.empty());
  EXPECT_EQ(config.master_port, 4000);
  EXPECT_EQ(config.fingerprint, "f");
  EXPECT_TRUE(config.is_fed);
}

// Each line of tasks over ssh came twice, and heartbeats waited behind it.
TEST(AgentLaunch, OneWhoseLogsThePlaceBringsSendsNoLinesThatNobodyKeeps) {
  AgentLaunch away = launch();
  away.are_away = true;
  const auto sends_last_line_only = [&away](LinesFor lines) {
    away.lines = lines;
    return agent_config_of(away, {"worker", 0}, 1, 4000).sends_last_line_only;
  };
  EXPECT_TRUE(sends_last_line_only(LinesFor::kNobody));
  EXPECT_FALSE(sends_last_line_only(LinesFor::kClients));
  EXPECT_FALSE(sends_last_line_only(LinesFor::kLogFolder));
}

}  // namespace
}  // namespace gangrun::agents
