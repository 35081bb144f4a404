#include "yarn/application_end.h"

#include <gtest/gtest.h>

#include "base/format.h"

namespace gangrun::yarn {
namespace {

using hadoop::ApplicationState;
using hadoop::FinalStatus;
using job::Reason;

hadoop::ApplicationReport ended(ApplicationState state, std::string diagnostics,
                                FinalStatus final_status = FinalStatus::kFailed) {
  hadoop::ApplicationReport report;
  report.state = state;
  report.final_status = final_status;
  report.diagnostics = std::move(diagnostics);
  return report;
}

Reason reason_of_failed(std::string diagnostics) {
  return application_end(ended(ApplicationState::kFailed, std::move(diagnostics))).why.reason;
}

// As a ResourceManager of Hadoop 3 writes it.
std::string master_exited(int status, const std::string& rest = {}) {
  return base::format(
      "Application application_1700000000000_0001 failed 2 times (global limit =3; local limit is "
      "=2) due to AM Container for "
      "appattempt_1700000000000_0001_000002 exited with  exitCode: {}\nFailing this "
      "attempt.Diagnostics: [2026-01-31 12:00:00.000]{}\nFor more detailed output, check the "
      "application tracking page: http://rm:8088/cluster/app/application_1700000000000_0001 Then "
      "click on links to logs of each attempt.\n. Failing the application.",
      status, rest);
}

TEST(ApplicationEnd, WhatTheMasterLeavesIsReadAgain) {
  job::JobStatus status;
  EXPECT_EQ(diagnostics_of(status), "");
  status.cause.emplace();
  status.cause->told = "worker:1 on h1 exited with status 3";
  EXPECT_EQ(diagnostics_of(status), "worker:1 on h1 exited with status 3") << "no reason is known";
  for (const Reason reason : job::all_reasons()) {
    status.cause->why.reason = reason;
    const job::Cause end =
        application_end(ended(ApplicationState::kFinished, diagnostics_of(status)));
    EXPECT_EQ(to_words(end), status.cause->told);
    EXPECT_EQ(end.why.reason, reason);
  }
}

TEST(ApplicationEnd, ALongCauseKeepsItsReason) {
  job::JobStatus status;
  status.cause.emplace();
  status.cause->told = std::string(2000, 'x');
  status.cause->why.reason = Reason::kOutOfMemory;
  EXPECT_EQ(application_end(ended(ApplicationState::kFinished, diagnostics_of(status))).why.reason,
            Reason::kOutOfMemory);
}

TEST(ApplicationEnd, WhoLeavesNoReasonHasNone) {
  const auto old = ended(ApplicationState::kFinished, "worker:0 on h1 exited with status 3");
  EXPECT_EQ(application_end(old).why.reason, Reason::kUnknown);
  EXPECT_EQ(to_words(application_end(old)), "worker:0 on h1 exited with status 3");
  EXPECT_EQ(
      application_end(ended(ApplicationState::kFinished, "x [reason: solar_flare]")).why.reason,
      Reason::kUnknown);
  EXPECT_EQ(reason_of_failed("N/A"), Reason::kUnknown);
}

TEST(ApplicationEnd, AKilledApplicationWasStopped) {
  const std::string words = "Application application_1_0001 was killed by user ann at 10.0.0.1";
  EXPECT_EQ(application_end(ended(ApplicationState::kKilled, words)).why.reason, Reason::kStopped);
  EXPECT_EQ(to_words(application_end(ended(ApplicationState::kKilled, words))),
            "YARN says \"" + words + "\"");
  EXPECT_EQ(
      application_end(ended(ApplicationState::kFinished, "", FinalStatus::kKilled)).why.reason,
      Reason::kStopped);
  EXPECT_EQ(application_end(ended(ApplicationState::kKilled,
                                  "Application is killed by ResourceManager as it has exceeded "
                                  "the lifetime period."))
                .why.reason,
            Reason::kClusterGone);
}

TEST(ApplicationEnd, AMasterThatFailedIsLost) {
  EXPECT_EQ(reason_of_failed(master_exited(137, "Container killed on request.")),
            Reason::kMasterLost);
  EXPECT_EQ(reason_of_failed(master_exited(1)), Reason::kMasterLost);
  EXPECT_EQ(reason_of_failed(master_exited(hadoop::kExitAborted, "Container released")),
            Reason::kMasterLost);
  EXPECT_EQ(reason_of_failed("Application application_1_0001 failed 2 times due to "
                             "ApplicationMaster for attempt appattempt_1_0001_000002 timed out. "
                             "Failing the application."),
            Reason::kMasterLost);
}

TEST(ApplicationEnd, WhyTheMasterFailedIsToldWhereYarnKnows) {
  EXPECT_EQ(reason_of_failed(master_exited(hadoop::kExitOverPhysicalMemory)), Reason::kOutOfMemory);
  EXPECT_EQ(reason_of_failed(master_exited(hadoop::kExitPreempted)), Reason::kPreempted);
  EXPECT_EQ(reason_of_failed(master_exited(hadoop::kExitDisksFailed)), Reason::kLostNode);
  EXPECT_EQ(reason_of_failed(master_exited(hadoop::kExitAborted, "released on a *lost* node")),
            Reason::kLostNode);
  EXPECT_EQ(reason_of_failed(master_exited(hadoop::kExitInvalid, "File does not exist: hdfs:/x")),
            Reason::kCouldNotStart);
}

// The words were cut before they said it.
TEST(ApplicationEnd, AMasterOverItsMemoryIsToldAsThat) {
  const std::string over =
      "Container [pid=4711,containerID=container_1700000000000_0001_02_000001] is running "
      "12345678B beyond the 'PHYSICAL' memory limit. Current usage: 70.1 MB of 64 MB physical "
      "memory used; 200 MB of 134.4 MB virtual memory used. Killing container.\nDump of the "
      "process-tree for container_1700000000000_0001_02_000001 :\n\t|- PID PPID";
  const auto report =
      ended(ApplicationState::kFailed, master_exited(hadoop::kExitOverPhysicalMemory, over));
  EXPECT_EQ(to_words(application_end(report)),
            "the job's master was killed 2 times for its memory: 70.1 MB of 64 MB physical memory "
            "used; `yarn: {master: {memory: …}}` gives it more");
  EXPECT_TRUE(has_lost_its_master(report));
}

TEST(ApplicationEnd, WhatTheLastMasterSaidIsTold) {
  const std::string said =
      "Exception from container-launch.\nContainer id: container_1\nExit code: 1\n\n[2026-01-31 "
      "12:00:00.001]Container exited with a non-zero exit code 1. Error file: prelaunch.err.\n"
      "Last 4096 bytes of prelaunch.err :\nLast 4096 bytes of stderr :\ngangrun-agent master: "
      "LISTSTATUS /x: cannot connect to nn:9870: Connection refused\n\n";
  EXPECT_EQ(to_words(application_end(ended(ApplicationState::kFailed, master_exited(1, said)))),
            "the job's master failed 2 times; the last one said \"LISTSTATUS /x: cannot connect "
            "to nn:9870: Connection refused\"");
  EXPECT_EQ(to_words(application_end(ended(ApplicationState::kFailed, master_exited(137)))),
            "the job's master failed 2 times; the last one was killed by signal 9 (kill)");
}

TEST(ApplicationEnd, OnlyMastersThatBeganAreLost) {
  const auto lost = [](std::string words) {
    return has_lost_its_master(ended(ApplicationState::kFailed, std::move(words)));
  };
  EXPECT_TRUE(lost(master_exited(137)));
  EXPECT_TRUE(
      lost("Application application_1_0001 failed 2 times due to ApplicationMaster for "
           "attempt appattempt_1_0001_000002 timed out. Failing the application."));
  EXPECT_FALSE(lost(master_exited(hadoop::kExitInvalid, "File does not exist: hdfs:/x")));
  EXPECT_FALSE(lost("Application application_1_0001 submitted by user ann to unknown queue"));
  EXPECT_FALSE(has_lost_its_master(ended(ApplicationState::kKilled, master_exited(137))));
}

TEST(ApplicationEnd, WhatYarnRefusesIsTheClusters) {
  EXPECT_EQ(reason_of_failed("Application application_1_0001 submitted by user ann to unknown "
                             "queue: root.nowhere"),
            Reason::kClusterGone);
}

}  // namespace
}  // namespace gangrun::yarn
