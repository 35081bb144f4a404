#include "agent/run_end.h"

#include <gtest/gtest.h>

namespace gangrun::agent {
namespace {

const job::Why kStatus{.reason = job::Reason::kExitStatus, .code = 143};

job::ExitReport failed(const job::Why& why = kStatus) {
  job::ExitReport report;
  report.why = why;
  return report;
}

TEST(RunEnd, OfItsOwnIsToldAsItIs) {
  job::ExitReport report = failed();
  EXPECT_EQ(judge(report, {}), PortsNext::kHoldAgain);
  EXPECT_EQ(report, failed());
}

TEST(RunEnd, ASuccessIsOneWhateverElseIsKnown) {
  job::ExitReport report;
  report.success = true;
  const RunCircumstances all{.has_notice = true, .agent_ends_for = "x", .lost_port = true};
  EXPECT_EQ(judge(report, all), PortsNext::kHoldAgain);
  EXPECT_EQ(report.why, job::Why());
}

TEST(RunEnd, AfterANoticeItIsThePreemption) {
  job::ExitReport report = failed();
  EXPECT_EQ(judge(report, {.has_notice = true, .lost_port = true}), PortsNext::kNothing);
  EXPECT_EQ(report.why, (job::Why{.reason = job::Reason::kPreempted, .code = 143}));
  EXPECT_FALSE(report.port_lost);
}

TEST(RunEnd, NoMemoryIsItsOwnAlsoAfterANotice) {
  job::ExitReport report = failed({.reason = job::Reason::kOutOfMemory, .signal = 9});
  EXPECT_EQ(judge(report, {.has_notice = true}), PortsNext::kHoldAgain);
  EXPECT_EQ(report.why.reason, job::Reason::kOutOfMemory);
}

// How the process took it says nothing then.
TEST(RunEnd, ByTheAgentIsTheAgents) {
  job::ExitReport report = failed();
  const RunCircumstances known{.agent_ends_for = "its lease is over", .lost_port = true};
  EXPECT_EQ(judge(report, known), PortsNext::kNothing);
  EXPECT_EQ(report.why,
            (job::Why{.reason = job::Reason::kAgentEnded, .detail = "its lease is over"}));
  EXPECT_FALSE(report.port_lost);
}

TEST(RunEnd, ByTheAgentAfterANoticeIsStillThePreemption) {
  job::ExitReport report = failed();
  EXPECT_EQ(judge(report, {.has_notice = true, .agent_ends_for = "x"}), PortsNext::kNothing);
  EXPECT_EQ(report.why, (job::Why{.reason = job::Reason::kPreempted, .code = 143, .detail = "x"}));
}

TEST(RunEnd, ForItsPortItGetsAnother) {
  job::ExitReport report = failed();
  EXPECT_EQ(judge(report, {.lost_port = true}), PortsNext::kTakeOthers);
  EXPECT_EQ(report.why, (job::Why{.reason = job::Reason::kPortLost, .code = 143}));
  EXPECT_TRUE(report.port_lost);
}

}  // namespace
}  // namespace gangrun::agent
