#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kubernetes/pods/manifests_for_tests.h"
#include "kubernetes/pods/pod_run.h"

namespace gangrun::kubernetes::pods {
namespace {

using testing::HasSubstr;

std::map<std::string, std::string> variables_of(int workers) {
  ManifestInput input = test::wine_job();
  job::TaskSpec worker = test::tasks_of("worker", workers);
  worker.environment = {{"RATE", "2"}, {"GANGRUN_GENERATION", "7"}};
  input.spec.tasks = {worker};
  input.spec.environment = {{"RATE", "1"}, {"DATA", "/data"}};
  const auto manifests = Manifests::make(std::move(input));
  EXPECT_TRUE(manifests.ok()) << manifests.error().message;
  job::ClusterSpec spec;
  spec.generation = 1;
  for (int index = 0; index < workers; ++index) {
    spec.tasks["worker"].push_back({"worker-" + std::to_string(index) + ".wine-1", 2222});
  }
  const auto variables = pod_variables(*manifests, spec, {"worker", 1}, 3);
  EXPECT_TRUE(variables.ok()) << variables.error().message;
  return variables.value_or(std::map<std::string, std::string>());
}

TEST(PodVariables, AreThoseThatAnAgentWouldMake) {
  const auto variables = variables_of(2);
  EXPECT_EQ(variables.at("GANGRUN_JOB_ID"), test::wine_job().job_id);
  EXPECT_EQ(variables.at("GANGRUN_TASK_INDEX"), "1");
  EXPECT_THAT(variables.at("TF_CONFIG"), HasSubstr("worker-0.wine-1:2222"));
  EXPECT_EQ(variables.at("DATA"), "/data");
}

TEST(PodVariables, OfATypeWinOverTheJobsButNotOverOurs) {
  const auto variables = variables_of(2);
  EXPECT_EQ(variables.at("RATE"), "2");
  EXPECT_EQ(variables.at("GANGRUN_GENERATION"), "1");
}

TEST(PodVariables, NameNoFileThatNobodyWrites) {
  const auto large = variables_of(3000);
  EXPECT_FALSE(large.contains("GANGRUN_CLUSTER_SPEC_FILE"));
  EXPECT_THAT(large.at("GANGRUN_CLUSTER_SPEC"), HasSubstr("\"worker-2999.wine-1:2222\""));
  EXPECT_TRUE(large.contains("TF_CONFIG"));
  const auto variables = variables_of(6000);
  EXPECT_FALSE(variables.contains("GANGRUN_CLUSTER_SPEC_FILE"));
  EXPECT_FALSE(variables.contains("GANGRUN_CLUSTER_SPEC"));
}

}  // namespace
}  // namespace gangrun::kubernetes::pods
