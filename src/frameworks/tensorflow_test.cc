#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "frameworks/jobs_for_tests.h"
#include "frameworks/variables_of.h"

namespace gangrun::frameworks {
namespace {

using test::job_of;
using test::only;
using test::task_of;
using test::variables_of;

job::JobSpec wine() {
  auto job = job_of({task_of("worker", 2), task_of("ps", 1), task_of("chief", 1),
                     task_of("evaluator", 1), task_of("tensorboard", 1)});
  job.frameworks = {{job::Framework::kTensorflow}};
  return job;
}

struct ConfigCase {
  std::string_view task;
  std::string_view expected;  // empty: no TF_CONFIG
};

TEST(TfConfig, IsExactlyWhatTensorflowReads) {
  const std::vector<ConfigCase> cases{
      {"chief:0",
       R"({"cluster":{"chief":["h3:3000"],"worker":["h1:1000","h1:1001"],"ps":["h2:2000"]},)"
       R"("task":{"type":"chief","index":0}})"},
      {"worker:1",
       R"({"cluster":{"chief":["h3:3000"],"worker":["h1:1000","h1:1001"],"ps":["h2:2000"]},)"
       R"("task":{"type":"worker","index":1}})"},
      {"ps:0",
       R"({"cluster":{"chief":["h3:3000"],"worker":["h1:1000","h1:1001"],"ps":["h2:2000"]},)"
       R"("task":{"type":"ps","index":0}})"},
      {"evaluator:0",
       R"({"cluster":{"chief":["h3:3000"],"worker":["h1:1000","h1:1001"],"ps":["h2:2000"],)"
       R"("evaluator":["h4:4000"]},"task":{"type":"evaluator","index":0}})"},
      {"tensorboard:0", ""},
  };
  for (const ConfigCase& c : cases) {
    Variables expected;
    if (!c.expected.empty()) expected["TF_CONFIG"] = c.expected;
    const job::TaskId task = *job::parse_task_id(c.task);
    EXPECT_EQ(only(variables_of(wine(), task), {"TF_CONFIG", "error"}), expected) << c.task;
  }
}

TEST(TfConfig, AnIpv6AddressStandsInBrackets) {
  const auto job = job_of({task_of("worker", 1)});
  const job::ClusterSpec cluster{.generation = 1, .tasks = {{"worker", {{"fd00::1", 70}}}}};
  const auto found =
      environment_of({.job = job, .cluster = cluster, .job_id = "j1"}, {"worker", 0}, 0);
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(found->variables.at("TF_CONFIG"),
            R"({"cluster":{"worker":["[fd00::1]:70"]},"task":{"type":"worker","index":0}})");
}

TEST(TfConfig, AJobOfObserversOnlyHasNone) {
  const auto job = job_of({task_of("evaluator", 1), task_of("tensorboard", 1)});
  EXPECT_EQ(variables_of(job, {"evaluator", 0}).count("TF_CONFIG"), 0U);
  EXPECT_EQ(variables_of(job, {"evaluator", 0}).at("GANGRUN_CLUSTER_SPEC"),
            R"({"evaluator":["h1:1000"]})");
}

TEST(TfConfig, SeveralProcessesAtOneAddressHaveNone) {
  const auto job = job_of({task_of("worker", 2, 4), task_of("ps", 1)});
  EXPECT_EQ(variables_of(job, {"worker", 0}, 3).count("TF_CONFIG"), 0U);
  EXPECT_EQ(variables_of(job, {"ps", 0}).count("TF_CONFIG"), 0U);
}

TEST(TfConfig, AnObserverWithSeveralProcessesTakesItFromNobodyElse) {
  auto job = job_of({task_of("worker", 1), task_of("evaluator", 1, 2)});
  EXPECT_EQ(variables_of(job, {"worker", 0}).count("TF_CONFIG"), 1U);
  EXPECT_EQ(variables_of(job, {"evaluator", 0}).count("TF_CONFIG"), 0U);
}

TEST(YtfSubmit, HostsByTypeAndTheOwnPlace) {
  EXPECT_EQ(only(variables_of(wine(), {"worker", 1}), {"DTF_"}),
            Variables({{"DTF_CHIEF_HOSTS", "h3:3000"},
                       {"DTF_WORKER_HOSTS", "h1:1000,h1:1001"},
                       {"DTF_PS_HOSTS", "h2:2000"},
                       {"DTF_TASK_JOB_NAME", "worker"},
                       {"DTF_TASK_INDEX", "1"}}));
}

TEST(YtfSubmit, TypesThatWouldShareAVariableHaveNone) {
  const auto job =
      job_of({task_of("data-node", 1), task_of("data_node", 1), task_of("side-car", 1)});
  EXPECT_EQ(only(variables_of(job, {"data-node", 0}), {"DTF_"}),
            Variables({{"DTF_SIDE_CAR_HOSTS", "h3:3000"},
                       {"DTF_TASK_JOB_NAME", "data-node"},
                       {"DTF_TASK_INDEX", "0"}}));
}

TEST(TfSpawner, OnlyWorkersAreNumbered) {
  EXPECT_EQ(only(variables_of(wine(), {"worker", 1}), {"WORKER_", "TOT_"}),
            Variables({{"WORKER_NUMBER", "1"}, {"TOT_WORKERS", "2"}}));
  EXPECT_EQ(only(variables_of(wine(), {"chief", 0}), {"WORKER_", "TOT_"}), Variables{});
}

}  // namespace
}  // namespace gangrun::frameworks
