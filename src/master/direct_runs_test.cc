#include "master/direct_runs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gangrun::master {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;

const job::TaskId kWorker{"worker", 1};

job::JobSpec spec_of(int workers) {
  job::JobSpec spec;
  spec.name = "wine";
  job::TaskSpec worker;
  worker.type = "worker";
  worker.instances = workers;
  worker.environment = {{"RATE", "2"}, {"GANGRUN_GENERATION", "7"}};
  spec.tasks = {worker};
  spec.environment = {{"RATE", "1"}, {"DATA", "/data"}};
  return spec;
}

job::ClusterSpec cluster_of(int workers) {
  job::ClusterSpec cluster;
  cluster.generation = 1;
  for (int index = 0; index < workers; ++index) {
    cluster.tasks["worker"].push_back({"worker-" + std::to_string(index) + ".wine-1", 2222});
  }
  return cluster;
}

std::map<std::string, std::string> variables_of(int workers) {
  const auto variables = direct_variables(spec_of(workers), "wine-1", cluster_of(workers),
                                          {kWorker, {"worker-1.wine-1", 2222}, {2223}}, 3);
  EXPECT_TRUE(variables.ok()) << variables.error().message;
  return variables.ok() ? *variables : std::map<std::string, std::string>();
}

TEST(DirectVariables, AreThoseThatAnAgentWouldMake) {
  const auto variables = variables_of(2);
  EXPECT_EQ(variables.at("GANGRUN_JOB_ID"), "wine-1");
  EXPECT_EQ(variables.at("GANGRUN_TASK_INDEX"), "1");
  EXPECT_THAT(variables.at("TF_CONFIG"), HasSubstr("worker-0.wine-1:2222"));
  EXPECT_EQ(variables.at("DATA"), "/data");
}

TEST(DirectVariables, OfATypeWinOverTheJobsButNotOverOurs) {
  const auto variables = variables_of(2);
  EXPECT_EQ(variables.at("RATE"), "2");
  EXPECT_EQ(variables.at("GANGRUN_GENERATION"), "1");
}

TEST(DirectVariables, NameNoFileThatNobodyWrites) {
  const auto large = variables_of(3000);
  EXPECT_FALSE(large.contains("GANGRUN_CLUSTER_SPEC_FILE"));
  EXPECT_THAT(large.at("GANGRUN_CLUSTER_SPEC"), HasSubstr("\"worker-2999.wine-1:2222\""));
  EXPECT_TRUE(large.contains("TF_CONFIG"));
  const auto variables = variables_of(6000);
  EXPECT_FALSE(variables.contains("GANGRUN_CLUSTER_SPEC_FILE"));
  EXPECT_FALSE(variables.contains("GANGRUN_CLUSTER_SPEC"));
}

TEST(DirectRuns, AFailureHasItsLastLinesItsTracebackAndWhereItWas) {
  DirectRuns runs;
  runs.started(kWorker, "node2");
  for (int line = 0; line < 30; ++line) runs.add(kWorker, "line " + std::to_string(line));
  runs.add(kWorker, "Traceback (most recent call last):");
  runs.add(kWorker, "  File \"t.py\", line 1, in <module>");
  runs.add(kWorker, "ValueError: no");
  job::ExitReport report;
  report.why = {.reason = job::Reason::kExitStatus, .code = 3};
  const job::ExitReport completed = runs.completed(kWorker, report);
  EXPECT_EQ(to_words(completed.why), "exited with status 3 on node2");
  EXPECT_THAT(completed.last_lines, SizeIs(job::kLastLines));
  EXPECT_EQ(completed.last_lines.back(), "ValueError: no");
  EXPECT_TRUE(completed.has_both_streams);
  EXPECT_THAT(completed.traceback, HasSubstr("ValueError: no"));
  EXPECT_THAT(completed.traceback, Not(HasSubstr("line 29")));
}

TEST(DirectRuns, ASuccessIsToldAsItIs) {
  DirectRuns runs;
  runs.started(kWorker, "node2");
  runs.add(kWorker, "done");
  job::ExitReport report;
  report.success = true;
  EXPECT_EQ(runs.completed(kWorker, report), report);
}

TEST(DirectRuns, KeepNoMoreThanATracebackNeeds) {
  DirectRuns runs;
  for (int line = 0; line < 2000; ++line) runs.add(kWorker, std::string(1000, 'x'));
  runs.add(kWorker, "last");
  const job::ExitReport completed = runs.completed(kWorker, {});
  EXPECT_EQ(completed.last_lines.back(), "last");
  runs.forget(kWorker);
  EXPECT_THAT(runs.completed(kWorker, {}).last_lines, SizeIs(0));
  EXPECT_EQ(runs.host_of(kWorker), "");
}

TEST(DirectRuns, KnowWhereARunIs) {
  DirectRuns runs;
  runs.started(kWorker, "node2");
  EXPECT_EQ(runs.host_of(kWorker), "node2");
  EXPECT_THAT(std::vector<std::string>{runs.host_of({"worker", 0})}, ElementsAre(""));
}

}  // namespace
}  // namespace gangrun::master
