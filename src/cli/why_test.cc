#include "cli/why.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/local_launch.h"

namespace gangrun::cli {

namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

job::JobStatus running(int tasks) {
  job::JobStatus status;
  status.id = "wine-1";
  status.state = job::JobState::kRunning;
  status.elapsed_ms = 41'000;
  for (int index = 0; index < tasks; ++index) {
    job::TaskStatus task;
    task.task = {"worker", index};
    task.state = job::TaskState::kRunning;
    status.tasks.push_back(task);
  }
  return status;
}

TEST(Why, ARunningJobWaitsForItsTasks) {
  EXPECT_THAT(why(running(1)), ElementsAre("wine-1 is still running after 41 s.",
                                           "Its own work: one task runs, worker:0."));
  EXPECT_THAT(why(running(10)).back(), HasSubstr("worker:7 and 2 more"));
}

TEST(Why, WhatIsWrongBesideTheJobIsTold) {
  job::JobStatus status = running(1);
  status.notes = {"ZooKeeper (zk1:2181) does not show the job's current registry: \x1b[1m"};
  EXPECT_THAT(why(status).back(), HasSubstr("ZooKeeper (zk1:2181) does not show"));
  EXPECT_THAT(why(status).back(), Not(HasSubstr("\x1b")));
}

TEST(Why, TheAddressesHaveTheirReasonsAlsoAfterTheEnd) {
  job::JobStatus status = running(3);
  for (job::TaskStatus& task : status.tasks) {
    task.address = "[fd00::5]:4000";
    task.address_reason = "of eth0, in fd00::/8";
  }
  status.tasks[2].address = "h2:4000";
  status.tasks[2].address_reason = "as --host says";
  const std::vector<std::string> addresses = {
      "worker:0, worker:1 are known by the address [fd00::5], of eth0, in fd00::/8.",
      "worker:2 is known by the address h2, as --host says."};
  for (const auto state : {job::JobState::kRunning, job::JobState::kFailed}) {
    status.state = state;
    const auto sentences = why(status);
    EXPECT_THAT(std::vector(sentences.end() - 2, sentences.end()),
                testing::ElementsAreArray(addresses));
  }
}

TEST(Why, TheLoopbackOfThisMachineIsNotMentionedUnlessChosen) {
  job::JobStatus status = running(1);
  status.tasks[0].address = "127.0.0.1:4000";
  status.tasks[0].address_reason = std::string(host::kDefaultAddressReason);
  EXPECT_THAT(why(status), Not(Contains(HasSubstr("127.0.0.1"))));
  status.tasks[0].address_reason = "of lo, in 127.0.0.0/8";
  EXPECT_EQ(why(status).back(),
            "worker:0 is known by the address 127.0.0.1, of lo, in 127.0.0.0/8.");
}

TEST(Why, OfManyHostsSomeAreNamed) {
  job::JobStatus status = running(12);
  for (job::TaskStatus& task : status.tasks) {
    task.address = "10.0.0." + std::to_string(task.task.index) + ":1";
    task.address_reason = "as --host says";
  }
  EXPECT_EQ(why(status).back(), "The tasks have 4 more addresses.");
}

TEST(Why, ASidecarIsNotWaitedFor) {
  job::JobStatus status = running(2);
  status.tasks[1].policy = job::Policy::kSidecar;
  EXPECT_THAT(why(status).back(), testing::EndsWith("one task runs, worker:0."));
}

TEST(Why, WhatTheGangWaitsForIsSaidFirst) {
  job::JobStatus status = running(2);
  status.state = job::JobState::kAllocating;
  status.waiting_for = "a place for worker:1: the queue is full; limit in 9 min";
  EXPECT_THAT(why(status),
              ElementsAre("wine-1 is still allocating after 41 s.",
                          "It waits for a place for worker:1: the queue is full; limit in 9 min."));
}

TEST(Why, ASentenceOfAClusterKeepsItsOneFullStop) {
  job::JobStatus status = running(2);
  status.waiting_for = "worker:1: 0/1 nodes are available: 1 Insufficient cpu.";
  EXPECT_EQ(why(status)[1], "It waits for worker:1: 0/1 nodes are available: 1 Insufficient cpu.");
}

TEST(Why, ASilentTaskIsNamed) {
  job::JobStatus status = running(2);
  status.tasks[1].state = job::TaskState::kLost;
  EXPECT_THAT(why(status)[1], HasSubstr("No heartbeat from worker:1"));
}

TEST(Why, AnEndedJobHasItsCause) {
  job::JobStatus status = running(1);
  status.state = job::JobState::kFailed;
  status.cause = job::Cause{.told = "worker:0 exited with status 3"};
  EXPECT_THAT(why(status),
              ElementsAre("wine-1 failed after 41 s.", "worker:0 exited with status 3."));
  status.cause->why.reason = job::Reason::kExitStatus;
  EXPECT_THAT(why(status).back(), "What to do: gangrun explain exit_status");
}

TEST(Why, AFailedTaskShowsItsLastLinesAndWhereTheRestIs) {
  job::JobStatus status = running(2);
  status.state = job::JobState::kFailed;
  status.cause = job::Cause{.task = job::TaskId{"worker", 1},
                            .why = {.reason = job::Reason::kExitStatus, .code = 1},
                            .last_lines = {"loading", "KeyError: \x1b[1m'x'"}};
  std::vector<std::string> shown;
  for (const client::Line& line : why_lines(status)) shown.push_back(line.text());
  EXPECT_THAT(shown, ElementsAre("wine-1 failed after 41 s.", "worker:1 exited with status 1.",
                                 "its last lines on standard error:", "  | loading",
                                 "  | KeyError: 'x'", "Full output: gangrun logs wine-1 worker:1",
                                 "What to do: gangrun explain exit_status"));
  EXPECT_THAT(why(status),
              ElementsAre("wine-1 failed after 41 s.", "worker:1 exited with status 1.",
                          "Full output: gangrun logs wine-1 worker:1",
                          "What to do: gangrun explain exit_status"));
}

TEST(Why, ALogThatLacksLinesIsNoFullOutput) {
  job::JobStatus status = running(2);
  status.state = job::JobState::kFailed;
  status.cause = job::Cause{.task = job::TaskId{"worker", 1},
                            .why = {.reason = job::Reason::kExitStatus, .code = 1}};
  status.tasks[0].incomplete_log = "2 lines could not be kept: log_limit (1 MiB) is reached";
  EXPECT_THAT(why(status), Contains("Full output: gangrun logs wine-1 worker:1"));
  status.tasks[1].incomplete_log = status.tasks[0].incomplete_log;
  EXPECT_THAT(why(status), Contains("Output, as far as it was kept: gangrun logs wine-1 worker:1"));
}

TEST(Why, IsNeverEmpty) {
  job::JobStatus status = running(0);
  EXPECT_EQ(why(status).size(), 2U);
}

}  // namespace

}  // namespace gangrun::cli
