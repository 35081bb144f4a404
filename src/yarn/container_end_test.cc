#include "yarn/container_end.h"

#include <gmock/gmock.h>

namespace gangrun::yarn {
namespace {

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

}  // namespace
}  // namespace gangrun::yarn
