#include "kubernetes/pods/architecture.h"

#include <gmock/gmock.h>

#include "kubernetes/pods/kubernetes_options.h"
#include "kubernetes/pods/manifests_for_tests.h"

namespace gangrun::kubernetes::pods {
namespace {

using base::Json;
using testing::AllOf;
using testing::HasSubstr;

std::string program_for(char machine) {
  std::string bytes(
      "\x7f"
      "ELF",
      4);
  bytes.resize(18);
  bytes += machine;
  bytes.resize(64);
  return bytes;
}

Json with_affinity(const Json& terms) {
  return {{"spec",
           {{"affinity",
             {{"nodeAffinity",
               {{"requiredDuringSchedulingIgnoredDuringExecution",
                 {{"nodeSelectorTerms", terms}}}}}}}}}};
}

TEST(Architecture, IsInTheProgram) {
  EXPECT_EQ(architecture_of(program_for(62)), "amd64");
  EXPECT_EQ(architecture_of(program_for('\xb7')), "arm64");
  EXPECT_EQ(architecture_of(program_for(22)), "");
  EXPECT_EQ(architecture_of("#!/bin/sh"), "");
  EXPECT_EQ(architecture_of(""), "");
}

TEST(Architecture, IsTheClientsWherePodsMayGoThere) {
  job::JobSpec spec = test::wine_job().spec;
  EXPECT_EQ(agents_architecture(spec, "arm64").value(), "arm64");
  edit_kubernetes(spec).node_selector = {{"zone", "a"}};
  EXPECT_EQ(agents_architecture(spec, "amd64").value(), "amd64");
  edit_kubernetes(spec).pod = with_affinity(Json::parse(R"([{"matchExpressions": [
      {"key": "kubernetes.io/arch", "operator": "In", "values": ["amd64", "arm64"]}]}])"));
  EXPECT_EQ(agents_architecture(spec, "amd64").value(), "amd64");
  // A node of any kind fits the second.
  edit_kubernetes(spec).pod = with_affinity(Json::parse(R"([
      {"matchExpressions": [{"key": "kubernetes.io/arch", "operator": "In", "values": ["arm64"]}]},
      {"matchExpressions": [{"key": "zone", "operator": "Exists"}]}])"));
  EXPECT_EQ(agents_architecture(spec, "amd64").value(), "amd64");
}

TEST(Architecture, IsTheOneThatThePodsAskFor) {
  job::JobSpec spec = test::wine_job().spec;
  edit_kubernetes(spec).node_selector = {{"kubernetes.io/arch", "arm64"}};
  EXPECT_EQ(agents_architecture(spec, "amd64").value(), "arm64");
  edit_kubernetes(spec).node_selector.clear();
  spec.tasks.front().pod =
      Json::parse(R"({"spec": {"nodeSelector": {"kubernetes.io/arch": "arm64"}}})");
  EXPECT_EQ(agents_architecture(spec, "amd64").value(), "arm64");
  spec.tasks.front().pod = with_affinity(Json::parse(R"([{"matchExpressions": [
      {"key": "kubernetes.io/arch", "operator": "NotIn", "values": ["amd64"]}]}])"));
  EXPECT_EQ(agents_architecture(spec, "amd64").value(), "arm64");
}

TEST(Architecture, IsOneForAllAndOneThatAgentsRunOn) {
  job::JobSpec spec = test::wine_job().spec;
  edit_kubernetes(spec).node_selector = {{"kubernetes.io/arch", "s390x"}};
  EXPECT_THAT(agents_architecture(spec, "amd64").error().message,
              HasSubstr("kubernetes.io/arch: s390x is requested"));
  edit_kubernetes(spec).node_selector.clear();
  spec.tasks = {test::tasks_of("worker", 2), test::tasks_of("ps", 1)};
  spec.tasks[0].pod = Json::parse(R"({"spec": {"nodeSelector": {"kubernetes.io/arch": "arm64"}}})");
  spec.tasks[1].pod = Json::parse(R"({"spec": {"nodeSelector": {"kubernetes.io/arch": "amd64"}}})");
  const auto chosen = agents_architecture(spec, "amd64");
  ASSERT_FALSE(chosen.ok());
  EXPECT_EQ(chosen.error().code, base::Code::kInvalidArgument);
  EXPECT_THAT(chosen.error().message,
              AllOf(HasSubstr("amd64, arm64 is requested"), HasSubstr("kubernetes.agent_image")));
}

TEST(Architecture, AProgramForAnotherProcessorIsExplained) {
  EXPECT_THAT(words_of_other_processor("exec /gangrun-agent: exec format error"),
              AllOf(HasSubstr("the node has another processor"), HasSubstr("kubernetes.io/arch")));
  EXPECT_EQ(words_of_other_processor("no such file"), "");
}

}  // namespace
}  // namespace gangrun::kubernetes::pods
