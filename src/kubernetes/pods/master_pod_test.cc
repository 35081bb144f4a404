#include "kubernetes/pods/master_pod.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json.h"
#include "kubernetes/pods/agent_parts_for_tests.h"
#include "kubernetes/pods/manifests_for_tests.h"
#include "kubernetes/pods/master_names.h"

namespace gangrun::kubernetes::pods {
namespace {

using base::Json;
using testing::HasSubstr;
using testing::Not;

ManifestInput job_with_master() {
  ManifestInput input = test::wine_job();
  KubernetesOptions& options = edit_kubernetes(input.spec);
  options.agents = AgentsBy::kConfigMaps;
  options.service_account = "trainer";
  options.master.service_account = "gangrun-master";
  options.tolerations = {{{"key", "gpu"}, {"operator", "Exists"}}};
  options.pod = Json::parse(R"({"spec": {
      "securityContext": {"runAsNonRoot": true},
      "containers": [{"name": "task", "env": [{"name": "A", "value": "b"}],
                      "securityContext": {"allowPrivilegeEscalation": false}}]}})");
  input.agents = AgentPods{.source = by_config_maps(test::small_parts())};
  return input;
}

Json owner_of(ManifestInput input) {
  return master_owner(Manifests::make(std::move(input)).value(), std::chrono::seconds(60));
}

const Json& container_in(const Json& owner) {
  return owner.at("spec").at("template").at("spec").at("containers").at(0);
}

std::vector<std::string> names_in(const Json& list) {
  std::vector<std::string> names;
  for (const Json& each : list) names.push_back(each.at("name").get<std::string>());
  return names;
}

TEST(MasterOwner, MakesNoPodBeforeItIsSwitchedOn) {
  const Json owner = owner_of(job_with_master());
  EXPECT_EQ(owner["metadata"]["name"], "wine-20260131-120000-3fa1-owner");
  EXPECT_EQ(owner["metadata"]["labels"]["gangrun/master"], "1");
  EXPECT_EQ(owner["spec"]["parallelism"], 0);
  EXPECT_EQ(owner["spec"]["completions"], 1);
  EXPECT_EQ(owner["spec"]["activeDeadlineSeconds"], 60);
  // A client that dies leaves nothing.
  EXPECT_EQ(owner["spec"]["ttlSecondsAfterFinished"], 0);
  Json on = owner;
  on.merge_patch(switch_on(7200));
  EXPECT_EQ(on["spec"]["parallelism"], 1);
  EXPECT_EQ(on["spec"]["activeDeadlineSeconds"], 7200);
  EXPECT_EQ(on["spec"]["ttlSecondsAfterFinished"], 24 * 3600);
  EXPECT_EQ(on["spec"]["template"], owner["spec"]["template"]);
}

TEST(MasterPod, HasItsAccountAndGoesWhereTasksMay) {
  const Json owner = owner_of(job_with_master());
  const Json& pod = owner["spec"]["template"];
  EXPECT_EQ(pod["metadata"]["labels"]["gangrun/master"], "1");
  EXPECT_EQ(pod["metadata"]["labels"]["gangrun/job"], "wine-20260131-120000-3fa1");
  EXPECT_FALSE(pod["metadata"].contains("name"));
  const Json& spec = pod["spec"];
  EXPECT_EQ(spec["restartPolicy"], "OnFailure");
  EXPECT_EQ(spec["serviceAccountName"], "gangrun-master");
  EXPECT_EQ(spec["automountServiceAccountToken"], true);
  EXPECT_EQ(spec["terminationGracePeriodSeconds"], 10);
  EXPECT_EQ(spec["securityContext"]["runAsNonRoot"], true);
  ASSERT_EQ(spec["tolerations"].size(), 3U);
  EXPECT_EQ(spec["tolerations"][0]["key"], "gpu");
  EXPECT_EQ(spec["tolerations"][1]["tolerationSeconds"], 15);
  EXPECT_EQ(names_in(spec["volumes"]),
            (std::vector<std::string>{"gangrun-agent", "gangrun-config", "gangrun-run"}));
  EXPECT_EQ(spec["volumes"][1]["secret"]["secretName"], "wine-20260131-120000-3fa1-master");
}

TEST(MasterPod, KnowsItselfAndNothingOfTheTasks) {
  const Json owner = owner_of(job_with_master());
  const Json& container = container_in(owner);
  EXPECT_EQ(container["name"], "master");
  EXPECT_EQ(container["image"], "tf:2.15");
  EXPECT_EQ(container["securityContext"]["allowPrivilegeEscalation"], false);
  EXPECT_EQ(names_in(container["env"]),
            (std::vector<std::string>{"GANGRUN_POD_IP", "GANGRUN_POD_NAME", "GANGRUN_POD_UID"}));
  const auto words = container["command"].get<std::vector<std::string>>();
  EXPECT_THAT(words, testing::IsSupersetOf(
                         {"pod-master", "--config", "/gangrun/master", "--run", "/gangrun/run"}));
  EXPECT_EQ(names_in(container["volumeMounts"]),
            (std::vector<std::string>{"gangrun-agent", "gangrun-config", "gangrun-run"}));
  EXPECT_EQ(container["volumeMounts"][1]["mountPath"], kMasterConfigFolder);
  EXPECT_EQ(container["volumeMounts"][2]["mountPath"], kMasterRunFolder);
  EXPECT_THAT(base::dump_json(owner), Not(HasSubstr("$(")));
}

TEST(MasterPod, IsChargedForItsTasks) {
  ManifestInput input = job_with_master();
  EXPECT_EQ(container_in(owner_of(input))["resources"],
            (Json{{"requests", {{"cpu", "100m"}, {"memory", "256Mi"}}}}));
  input.spec.tasks.front().instances = 1000;
  EXPECT_EQ(container_in(owner_of(input))["resources"]["requests"]["memory"], "279Mi");
  // A quota that asks for limits asks all containers.
  input.spec.tasks.front().resources.memory_mib = 512;
  EXPECT_EQ(container_in(owner_of(input))["resources"]["limits"], (Json{{"memory", "279Mi"}}));
  edit_kubernetes(input.spec).master.resources.memory_mib = 1024;
  edit_kubernetes(input.spec).master.resources.vcores = 2;
  EXPECT_EQ(container_in(owner_of(input))["resources"],
            (Json{{"requests", {{"cpu", "2"}, {"memory", "1024Mi"}}},
                  {"limits", {{"memory", "1024Mi"}}}}));
}

TEST(MasterPod, HasTheImageThatBringsTheAgent) {
  ManifestInput input = job_with_master();
  edit_kubernetes(input.spec).agents = AgentsBy::kImage;
  input.agents->source = by_image("hub/agent:1");
  const Json owner = owner_of(input);
  EXPECT_EQ(container_in(owner)["image"], "hub/agent:1");
  EXPECT_EQ(container_in(owner)["command"][0], "/gangrun-agent");
  EXPECT_FALSE(owner["spec"]["template"]["spec"].contains("initContainers"));
}

// A job that no master ends is gone some time after its limit.
TEST(MasterOwner, LivesLongerThanTheJobMay) {
  job::JobSpec spec = job_with_master().spec;
  EXPECT_EQ(detached_life(spec), std::chrono::hours(7 * 24 + 2));
  spec.timeouts.job = std::chrono::milliseconds(1500);
  edit_kubernetes(spec).master.keep = std::chrono::minutes(5);
  EXPECT_EQ(detached_life(spec), std::chrono::seconds(2 + 300 + 3600));
}

TEST(MasterSecret, IsTheOnlyPlaceOfWhatIsSecret) {
  const ManifestInput input = job_with_master();
  const PodMasterConfig config =
      master_config_of(input, test::wine_owner(), "alice", base::WallTime(),
                       base::Secret("the secret"), {"certificate", base::Secret("key"), "f1"});
  const auto secret = master_secret(input, config, test::wine_owner());
  ASSERT_TRUE(secret.ok()) << secret.error().message;
  EXPECT_EQ((*secret)["metadata"]["name"], "wine-20260131-120000-3fa1-master");
  EXPECT_EQ((*secret)["immutable"], true);
  EXPECT_EQ((*secret)["metadata"]["ownerReferences"][0]["uid"], "u-1");
  EXPECT_EQ((*secret)["data"].size(), 5U);
  const auto text = config_text(config);
  ASSERT_TRUE(text.ok());
  EXPECT_THAT(*text, Not(HasSubstr("the secret")));
}

}  // namespace
}  // namespace gangrun::kubernetes::pods
