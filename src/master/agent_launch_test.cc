#include "master/agent_launch.h"

#include <gtest/gtest.h>

namespace gangrun::master {
namespace {

Settings settings() {
  Settings settings;
  settings.job_id = "j";
  settings.socket_path = "/run/j";
  settings.log_folder = "/logs";
  settings.certificate = std::make_unique<net::JobCertificate>();
  settings.certificate->fingerprint = "f";
  return settings;
}

TEST(AgentLaunch, AnAgentOfThisMachineComesByTheSocket) {
  const auto config = agent_config_of(settings(), {"worker", 3}, 2, 4000);
  EXPECT_EQ(config.socket_path, "/run/j");
  EXPECT_EQ(config.master_port, 0);
  EXPECT_EQ(config.attempt, 2);
  EXPECT_FALSE(config.sends_last_line_only);
  EXPECT_EQ(config.log_prefix, "/logs/worker-3");
}

TEST(AgentLaunch, OneOfAnotherMachineByTheCertificate) {
  Settings by_tls = settings();
  by_tls.agents_come_by_tls = true;
  const auto config = agent_config_of(by_tls, {"worker", 0}, 1, 4000);
  EXPECT_TRUE(config.socket_path.empty());
  EXPECT_EQ(config.master_port, 4000);
  EXPECT_EQ(config.fingerprint, "f");
}

// Each line of tasks over ssh came twice, and heartbeats waited behind it.
TEST(AgentLaunch, OneWhoseLogsThePlaceBringsSendsNoLinesThatNobodyKeeps) {
  Settings away = settings();
  away.tasks_are_away = true;
  EXPECT_TRUE(agent_config_of(away, {"worker", 0}, 1, 4000).sends_last_line_only);
  away.keeps_lines = true;
  EXPECT_FALSE(agent_config_of(away, {"worker", 0}, 1, 4000).sends_last_line_only);
  away.keeps_lines = false;
  away.writes_lines = true;
  EXPECT_FALSE(agent_config_of(away, {"worker", 0}, 1, 4000).sends_last_line_only);
}

}  // namespace
}  // namespace gangrun::master
