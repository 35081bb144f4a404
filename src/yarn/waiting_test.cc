#include "yarn/waiting.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gangrun::yarn {
namespace {

using hadoop::ApplicationState;
using testing::ElementsAre;
using testing::HasSubstr;

job::TaskSpec task(const std::string& type, int instances, std::int64_t memory_mib) {
  job::TaskSpec task;
  task.type = type;
  task.instances = instances;
  task.resources.memory_mib = memory_mib;
  return task;
}

hadoop::NodeReport node_with(std::int64_t free_mib, std::int64_t free_vcores,
                             std::vector<std::string> labels) {
  hadoop::NodeReport node;
  node.capability.memory_mib = 8192;
  node.capability.vcores = 8;
  node.used.memory_mib = 8192 - free_mib;
  node.used.vcores = 8 - free_vcores;
  node.labels = std::move(labels);
  return node;
}

TEST(Waiting, WhatAJobAsksIsToldByKind) {
  job::JobSpec spec;
  spec.tasks = {task("chief", 1, 2048), task("worker", 2, 2048), task("ps", 1, 512)};
  spec.tasks[2].label = "gpu";
  spec.tasks[2].one_per_node = true;
  spec.tasks[2].resources.gpus = 2;
  EXPECT_EQ(
      asked_words(spec),
      "3 of 2048 MiB, 1 vcore; 1 of 512 MiB, 1 vcore, 2 yarn.io/gpu, label gpu, one on a node");
  EXPECT_THAT(labels_of(spec), ElementsAre("gpu"));
}

TEST(Waiting, WhatIsLeftIsToldOfTheQueueAndOfTheNodesWithTheLabel) {
  hadoop::QueueInfo queue;
  queue.name = "ml";
  queue.available_memory_mib = -5;  // as YARN says of a queue that is over its share
  queue.available_vcores = 1;
  EXPECT_EQ(queue_words(queue), "queue ml has 0 MiB and 1 vcore left");
  EXPECT_EQ(label_words("gpu", {node_with(100, 1, {"gpu"}), node_with(1000, 2, {}),
                                node_with(10, 0, {"gpu"})}),
            "label gpu has 110 MiB and 1 vcore left on 2 nodes");
  EXPECT_EQ(label_words("gpu", {}), "label gpu has 0 MiB and 0 vcores left on 0 nodes");
}

TEST(Waiting, ArchivesThatNodesUnpackAreNamedOnce) {
  job::JobSpec spec;
  spec.tasks = {task("chief", 1, 64), task("worker", 2, 64)};
  EXPECT_EQ(unpacking_words(spec), "");
  spec.archives = {{"env", "/home/ann/env.tar.gz"}};
  EXPECT_EQ(unpacking_words(spec),
            "nodes that do not have env.tar.gz yet fetch and unpack it before");
  spec.tasks[1].archives = {{"data", "hdfs:///wines.zip"}};
  EXPECT_EQ(unpacking_words(spec),
            "nodes that do not have env.tar.gz, wines.zip yet fetch and unpack them before");
}

TEST(Waiting, TheMastersOwnContainerIsToldWithWhatYarnSays) {
  hadoop::ApplicationReport waiting;
  waiting.queue = "root.ml";
  waiting.diagnostics = "N/A";
  waiting.state = ApplicationState::kAccepted;
  EXPECT_EQ(waiting_words(waiting, 0), "a container for the master in queue root.ml");
  waiting.diagnostics =
      "[Sun Jan 31 12:00:00 +0000 2026] Queue's AM resource limit\n exceeded.  Last Node which was";
  EXPECT_EQ(waiting_words(waiting, 2),
            "a container for the master in queue root.ml; 2 applications wait before this "
            "one; YARN says \"Queue's AM resource limit  exceeded.\"");
  waiting.state = ApplicationState::kNewSaving;
  EXPECT_THAT(waiting_words(waiting, 0), HasSubstr("to record"));
}

TEST(Waiting, LogsComeUntilTheNodesHaveHandedThemIn) {
  using Status = hadoop::LogAggregationStatus;
  const base::WallTime ended(std::chrono::milliseconds(1'000'000));
  hadoop::ApplicationReport report;
  report.finish_time = 1'000'000;
  for (const Status status : {Status::kRunning, Status::kRunningWithFailure}) {
    report.log_aggregation = status;
    EXPECT_TRUE(awaits_logs(report, ended + std::chrono::minutes(5)));
  }
  for (const Status status : {Status::kUnknown, Status::kDisabled, Status::kSucceeded,
                              Status::kFailed, Status::kTimedOut}) {
    report.log_aggregation = status;
    EXPECT_FALSE(awaits_logs(report, ended));
  }
  report.log_aggregation = Status::kNotStarted;
  EXPECT_TRUE(awaits_logs(report, ended + std::chrono::seconds(29)));
  EXPECT_FALSE(awaits_logs(report, ended + std::chrono::seconds(31)));
}

}  // namespace
}  // namespace gangrun::yarn
