#include "master/task_status.h"

#include <gtest/gtest.h>

namespace gangrun::master {
namespace {

gang::Task task() {
  gang::Task task;
  task.id = {"worker", 1};
  task.attempt = 3;
  task.address = {"host1", 4711};
  return task;
}

TEST(TaskStatus, WithoutAReportATaskHasNeitherPortsNorAProcess) {
  const job::TaskStatus status = status_of(task(), nullptr, {"grpc"});
  EXPECT_EQ(status.task, (job::TaskId{"worker", 1}));
  EXPECT_EQ(status.attempt, 3);
  EXPECT_EQ(status.address, "host1:4711");
  EXPECT_TRUE(status.ports.empty());
  EXPECT_EQ(status.pid, 0);
}

TEST(TaskStatus, PortsHaveTheNamesOfTheirType) {
  cluster::TaskFacts facts;
  facts.pid = 42;
  facts.more_ports = {5000, 5001};
  facts.address_reason = "as YARN calls its node";
  const job::TaskStatus status = status_of(task(), &facts, {"grpc", "metrics"});
  const std::vector<job::TaskPort> ports{{"grpc", 4711}, {"metrics", 5000}, {"", 5001}};
  EXPECT_EQ(status.ports, ports);
  EXPECT_EQ(status.pid, 42);
  EXPECT_EQ(status.address_reason, "as YARN calls its node");
}

TEST(TaskStatus, ATaskWithoutAnAddressHasNoPorts) {
  gang::Task waiting = task();
  waiting.address = {};
  const cluster::TaskFacts facts;
  const job::TaskStatus status = status_of(waiting, &facts, {"grpc"});
  EXPECT_TRUE(status.address.empty());
  EXPECT_TRUE(status.ports.empty());
}

}  // namespace
}  // namespace gangrun::master
