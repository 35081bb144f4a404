#include "yarn/yarn_site.h"

#include <gtest/gtest.h>

namespace gangrun::yarn {
namespace {

using hadoop::ApplicationState;

hadoop::ApplicationReport report(ApplicationState state) {
  hadoop::ApplicationReport report;
  report.state = state;
  report.queue = "root.ml";
  report.host = "node1";
  report.rpc_port = 4711;
  report.diagnostics = "N/A";
  return report;
}

TEST(YarnSite, TheStateIsYarnsWhereTheMasterCannotBeAsked) {
  EXPECT_EQ(state_of(report(ApplicationState::kAccepted)), job::JobState::kAllocating);
  EXPECT_EQ(state_of(report(ApplicationState::kRunning)), job::JobState::kRunning);
  EXPECT_EQ(state_of(report(ApplicationState::kKilled)), job::JobState::kKilled);
  EXPECT_EQ(state_of(report(ApplicationState::kFailed)), job::JobState::kFailed);
  auto finished = report(ApplicationState::kFinished);
  EXPECT_EQ(state_of(finished), job::JobState::kFailed);
  finished.final_status = hadoop::FinalStatus::kSucceeded;
  EXPECT_EQ(state_of(finished), job::JobState::kSucceeded);
  finished.final_status = hadoop::FinalStatus::kKilled;
  EXPECT_EQ(state_of(finished), job::JobState::kKilled);
}

TEST(YarnSite, TheMasterIsWhereItHasRegistered) {
  EXPECT_EQ(endpoint_of(report(ApplicationState::kRunning), "ab"),
            net::Endpoint::on_tls("node1", 4711, "ab"));
  EXPECT_FALSE(endpoint_of(report(ApplicationState::kAccepted), "ab").has_value());
  auto unknown = report(ApplicationState::kRunning);
  unknown.rpc_port = -1;
  EXPECT_FALSE(endpoint_of(unknown, "ab").has_value());
  unknown.rpc_port = 1;
  unknown.host = "N/A";
  EXPECT_FALSE(endpoint_of(unknown, "ab").has_value());
}

}  // namespace
}  // namespace gangrun::yarn
