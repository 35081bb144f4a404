#include "yarn/ends.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/format.h"

namespace gangrun::yarn {
namespace {

using hadoop::ApplicationState;
using hadoop::FinalStatus;
using job::JobState;
using job::Reason;

job::Why end_of(std::int32_t exit_status, std::string diagnostics = {}) {
  hadoop::ContainerStatus status;
  status.state = hadoop::ContainerState::kComplete;
  status.exit_status = exit_status;
  status.diagnostics = std::move(diagnostics);
  return explain_end(status);
}

TEST(ContainerEnd, TheProcessItself) {
  EXPECT_EQ(to_words(end_of(0)), "lost its agent, which ended");
  EXPECT_EQ(to_words(end_of(3)), "lost its agent, which exited with status 3");
  EXPECT_EQ(to_words(end_of(137)), "lost its agent, which was killed by signal 9 (kill)");
  EXPECT_EQ(end_of(137).reason, job::Reason::kAgentEnded);
}

TEST(ContainerEnd, AnAgentThatEndsByItselfSaysWhy) {
  const std::string words =
      "[2026-01-31 12:00:00.000]Exception from container-launch.\nExit code: 1\n\n"
      "[2026-01-31 12:00:00.001]Container exited with a non-zero exit code 1. Error file: "
      "prelaunch.err.\nLast 4096 bytes of prelaunch.err :\nLast 4096 bytes of stderr :\n"
      "gangrun-agent job_1-worker-0: listens at h1:40000\n"
      "gangrun-agent job_1-worker-0: no port: Too many open files\n\n\n";
  EXPECT_EQ(to_words(end_of(1, words)),
            "lost its agent, which ended: no port: Too many open files");
  EXPECT_EQ(to_words(end_of(1, "Exit code: 1\n")), "lost its agent, which exited with status 1");
}

TEST(ContainerEnd, MemoryIsToldWithUseAndLimit) {
  const std::string words =
      "[2026-01-31 12:00:00.000]Container [pid=7,containerID=c] is running 6396313B beyond the "
      "'PHYSICAL' memory limit. Current usage: 70.1 MB of 64 MB physical memory used; 200 MB of "
      "134.4 MB virtual memory used. Killing container.\nDump of the process-tree";
  const job::Why physical = end_of(hadoop::kExitOverPhysicalMemory, words);
  EXPECT_EQ(to_words(physical), "ran out of memory: 70.1 MB of 64 MB physical memory used");
  EXPECT_EQ(physical.reason, job::Reason::kOutOfMemory);
  EXPECT_EQ(to_words(end_of(hadoop::kExitOverVirtualMemory, words)),
            "ran out of memory: 200 MB of 134.4 MB virtual memory used");
  EXPECT_EQ(to_words(end_of(hadoop::kExitOverPhysicalMemory)),
            "ran out of memory: it used more memory than it had asked for");
}

TEST(ContainerEnd, WhatTheClusterDoesDoesNotCount) {
  EXPECT_EQ(to_words(end_of(hadoop::kExitAborted, "Container released on a *lost* node")),
            "was lost with its node");
  EXPECT_EQ(to_words(end_of(hadoop::kExitPreempted, "Container preempted by scheduler")),
            "was preempted: YARN says \"Container preempted by scheduler\"");
  for (const std::int32_t status :
       {hadoop::kExitAborted, hadoop::kExitDisksFailed, hadoop::kExitPreempted,
        hadoop::kExitKilledByResourceManager, hadoop::kExitInvalid, -108, 154}) {
    EXPECT_FALSE(job::is_own_fault(end_of(status).reason)) << status;
  }
}

TEST(ContainerEnd, EachSentenceGoesOnAfterTheTasksName) {
  for (std::int32_t status = -120; status <= 200; ++status) {
    const std::string sentence = to_words(end_of(status, "Container released"));
    EXPECT_THAT(sentence, testing::MatchesRegex("(was|lost|ran) .*")) << status;
  }
  EXPECT_EQ(to_words(end_of(hadoop::kExitInvalid)),
            "lost its container: its node could not start it");
}

TEST(ContainerEnd, AFailedLocalisationSaysWhy) {
  EXPECT_EQ(to_words(end_of(
                hadoop::kExitInvalid,
                "[2026-01-31 12:00:00.000]File does not exist: hdfs://nn:8020/x\njava.io.File")),
            "lost its container: its node could not start it; YARN says \"File does not exist: "
            "hdfs://nn:8020/x\"");
}

TEST(ContainerEnd, WhatYarnSaysDoesNothingToATerminal) {
  EXPECT_EQ(to_words(end_of(hadoop::kExitInvalid, "\x1b]52;c;eA==\a\x1b[2Jno\r\x1b(Bdisk\u202e")),
            "lost its container: its node could not start it; YARN says \"no disk\uFFFD\"");
}

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

job::JobStatus by_yarn(JobState state) {
  job::JobStatus status;
  status.id = "application_1_0001";
  status.state = state;
  status.ended = "2026-01-31T12:00:00.000Z";
  status.cause = job::Cause{.why = {.reason = job::Reason::kMasterLost}, .told = "YARN says no"};
  return status;
}

std::optional<job::JobStatus> by_journal(JobState state, bool has_run) {
  job::JobStatus status;
  status.id = "application_1_0001";
  status.state = state;
  status.has_run = has_run;
  status.generation = 2;
  status.tasks.resize(3);
  return status;
}

// Its exit status was that of a job of which nothing had run, and it had no tasks.
TEST(StatusWithoutMaster, AJobOfWhichTasksRanIsLostWithItsMaster) {
  const auto status =
      status_without_master(by_yarn(JobState::kLost), by_journal(JobState::kRunning, true));
  EXPECT_EQ(status.state, JobState::kLost);
  EXPECT_EQ(status.tasks.size(), 3U);
  EXPECT_EQ(status.generation, 2);
  EXPECT_EQ(status.ended, "2026-01-31T12:00:00.000Z");
  ASSERT_TRUE(status.cause);
  EXPECT_EQ(status.cause->told, "YARN says no");
}

TEST(StatusWithoutMaster, OneOfWhichNothingRanHasFailed) {
  for (const auto& journal :
       {by_journal(JobState::kRollCall, false), std::optional<job::JobStatus>()}) {
    const auto status = status_without_master(by_yarn(JobState::kLost), journal);
    EXPECT_EQ(status.state, JobState::kFailed);
    EXPECT_EQ(status.has_run, false);
  }
}

TEST(StatusWithoutMaster, WhatYarnHasKilledWasKilled) {
  const auto status =
      status_without_master(by_yarn(JobState::kKilled), by_journal(JobState::kRunning, true));
  EXPECT_EQ(status.state, JobState::kKilled);
}

TEST(StatusWithoutMaster, AVerdictThatIsRecordedStands) {
  const auto status =
      status_without_master(by_yarn(JobState::kLost), by_journal(JobState::kSucceeded, true));
  EXPECT_EQ(status.state, JobState::kSucceeded);
  EXPECT_FALSE(status.cause);
}

}  // namespace
}  // namespace gangrun::yarn
