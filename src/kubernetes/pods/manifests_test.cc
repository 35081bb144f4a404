#include "kubernetes/pods/manifests.h"

#include <gmock/gmock.h>

#include "kubernetes/pods/gang_scheduling.h"
#include "kubernetes/pods/kubernetes_options.h"
#include "kubernetes/pods/manifests_for_tests.h"

namespace gangrun::kubernetes::pods {
namespace {

using base::Json;
using testing::ElementsAre;
using testing::HasSubstr;

std::string refusal(ManifestInput input) {
  const auto manifests = Manifests::make(std::move(input));
  return manifests.ok() ? "" : manifests.error().message;
}

std::vector<std::string> kinds_of(const std::vector<Json>& objects) {
  std::vector<std::string> kinds;
  for (const Json& object : objects) kinds.push_back(object.at("kind").get<std::string>());
  return kinds;
}

TEST(Manifests, HaveAnOwnerThatRunsNothing) {
  const Manifests manifests = Manifests::make(test::wine_job()).value();
  const Json owner = manifests.owner(std::chrono::seconds(60));
  EXPECT_EQ(owner["metadata"]["name"], "wine-20260131-120000-3fa1-owner");
  EXPECT_EQ(owner["metadata"]["labels"]["gangrun/job"], "wine-20260131-120000-3fa1");
  EXPECT_EQ(owner["spec"], Json::parse(R"({
      "parallelism": 0, "backoffLimit": 0, "activeDeadlineSeconds": 60,
      "ttlSecondsAfterFinished": 0, "suspend": false,
      "template": {"spec": {"restartPolicy": "Never",
                            "containers": [{"name": "owner", "image": "tf:2.15"}]}}})"));
}

TEST(Manifests, HaveOneServiceForAllNames) {
  const Manifests manifests = Manifests::make(test::wine_job()).value();
  const std::vector<Json> objects = manifests.objects(test::wine_owner());
  ASSERT_THAT(kinds_of(objects), ElementsAre("Service"));
  EXPECT_EQ(objects[0]["metadata"]["name"], "wine-20260131-120000-3fa1");
  EXPECT_EQ(objects[0]["spec"], Json::parse(R"({
      "clusterIP": "None", "publishNotReadyAddresses": true,
      "selector": {"gangrun/job": "wine-20260131-120000-3fa1"}})"));
}

TEST(Manifests, HaveAllObjectsInTheOrderOfTheirMaking) {
  ManifestInput input = test::wine_job();
  input.spec.environment = {{"HF_TOKEN", "x"}};
  input.files = {{"train.py", "print(1)", false}};
  input.gang_scheduling = GangScheduling::kVolcano;
  const Manifests manifests = Manifests::make(input).value();
  const std::vector<Json> objects = manifests.objects(test::wine_owner());
  EXPECT_THAT(kinds_of(objects), ElementsAre("Secret", "ConfigMap", "Service", "PodGroup"));
  for (const Json& object : objects) {
    EXPECT_EQ(object["metadata"]["labels"]["gangrun/job"], input.job_id);
    EXPECT_EQ(object["metadata"]["ownerReferences"].at(0)["uid"], "u-1");
  }
  EXPECT_EQ(manifests.objects(test::wine_owner()), objects);
}

TEST(Manifests, MayHaveAServiceForEachTask) {
  ManifestInput input = test::wine_job();
  input.names.pods = {{{"worker", 0}, "worker0"}, {{"worker", 1}, "worker1"}};
  input.names.has_service_per_task = true;
  input.names.first_port = 1999;
  const Manifests manifests = Manifests::make(input).value();
  const std::vector<Json> objects = manifests.objects(test::wine_owner());
  ASSERT_THAT(kinds_of(objects), ElementsAre("Service", "Service"));
  EXPECT_EQ(objects[1]["metadata"]["name"], "worker1");
  EXPECT_EQ(objects[1]["spec"]["selector"]["app"], "worker1");
  EXPECT_EQ(objects[1]["spec"]["ports"], Json::parse(R"([{"name": "port-1999", "port": 1999}])"));
  EXPECT_EQ(manifests.address_of({"worker", 1}), (job::Address{"worker1", 1999}));
}

TEST(Manifests, AServiceForEachTaskMayHaveATemplate) {
  ManifestInput input = test::wine_job();
  input.names.pods = {{{"worker", 0}, "worker0"}, {{"worker", 1}, "worker1"}};
  input.names.has_service_per_task = true;
  input.names.service_template = Json::parse(R"({"kind": "Service",
      "metadata": {"labels": {"team": "a", "gangrun/job": "not this"}},
      "spec": {"type": "NodePort", "selector": {"app": "RUN"},
               "ports": [{"name": "grpc", "port": "PORT", "targetPort": "X", "protocol": "TCP"}]}})");
  const Manifests manifests = Manifests::make(input).value();
  const Json service = manifests.objects(test::wine_owner()).front();
  EXPECT_EQ(service["metadata"]["name"], "worker0");
  EXPECT_EQ(service["metadata"]["labels"]["team"], "a");
  EXPECT_EQ(service["metadata"]["labels"]["gangrun/job"], input.job_id);
  EXPECT_EQ(service["spec"]["selector"]["app"], "worker0");
  EXPECT_EQ(service["spec"]["type"], "NodePort");
  EXPECT_FALSE(service["spec"].contains("clusterIP"));
  EXPECT_EQ(service["spec"]["ports"],
            Json::parse(R"([{"name": "grpc", "port": 2222, "protocol": "TCP"}])"));
}

TEST(Manifests, TellOfEachTask) {
  ManifestInput input = test::wine_job();
  input.spec.tasks.push_back(test::tasks_of("ps", 1));
  input.spec.tasks.back().ports.count = 3;
  input.spec.tasks.back().outputs = {"ps.log"};
  input.spec.tasks.back().pod = Json::parse(R"({"spec": {"containers": [{"name": "server"}]}})");
  const Manifests manifests = Manifests::make(input).value();
  EXPECT_EQ(manifests.pod_name({"ps", 0}), "wine-20260131-120000-3fa1-ps-0");
  EXPECT_EQ(manifests.address_of({"ps", 0}).port, 2222);
  EXPECT_THAT(manifests.more_ports_of({"ps", 0}), ElementsAre(2223, 2224));
  EXPECT_THAT(manifests.more_ports_of({"worker", 0}), testing::IsEmpty());
  EXPECT_EQ(manifests.container_of({"ps", 0}), "server");
  EXPECT_EQ(manifests.container_of({"worker", 0}), "task");
  EXPECT_THAT(manifests.outputs_of({"ps", 0}), ElementsAre("ps.log"));
  EXPECT_THAT(manifests.outputs_of({"worker", 0}), testing::IsEmpty());
  EXPECT_EQ(gang_of(manifests.input().spec).size(), 3U);
  const Json pod = manifests.pod({"ps", 0}, test::run_with({}), test::wine_owner());
  EXPECT_EQ(pod["spec"]["containers"].at(0)["name"], "server");
}

TEST(Manifests, RefuseWhatCannotBe) {
  ManifestInput input = test::wine_job();
  input.spec.tasks = {test::tasks_of(std::string(40, 't'), 1)};
  EXPECT_THAT(refusal(input), HasSubstr("t: is too long for Kubernetes"));
  input = test::wine_job();
  edit_kubernetes(input.spec).pod = Json("text");
  EXPECT_THAT(refusal(input), HasSubstr("kubernetes.pod: is not a pod"));
  input = test::wine_job();
  input.spec.tasks.front().pod = Json{{"kind", "Job"}};
  EXPECT_THAT(refusal(input), HasSubstr("tasks.worker.pod.kind: "));
  input = test::wine_job();
  input.gang_scheduling = GangScheduling::kKueue;
  EXPECT_THAT(refusal(input), HasSubstr("kubernetes.queue: "));
  input = test::wine_job();
  input.files = {{"..", "", false}};
  EXPECT_THAT(refusal(input), HasSubstr("files: "));
}

TEST(Manifests, NeedAnImageOfTheJobOrThePod) {
  ManifestInput input = test::wine_job();
  input.spec.image = "";
  EXPECT_THAT(refusal(input), HasSubstr("tasks.worker.image: is missing"));
  edit_kubernetes(input.spec).pod =
      Json::parse(R"({"spec": {"containers": [{"name": "tf", "image": "tf:1"}]}})");
  EXPECT_EQ(refusal(input), "");
  const Manifests manifests = Manifests::make(input).value();
  const Json owner = manifests.owner(std::chrono::seconds(60));
  EXPECT_EQ(owner["spec"]["template"]["spec"]["containers"].at(0)["image"], "none");
}

TEST(CollectionPath, IsOfTheObjectsKind) {
  const std::tuple<const char*, const char*, const char*> kCases[] = {
      {"v1", "Pod", "/api/v1/namespaces/lab/pods"},
      {"v1", "Service", "/api/v1/namespaces/lab/services"},
      {"v1", "ConfigMap", "/api/v1/namespaces/lab/configmaps"},
      {"v1", "Secret", "/api/v1/namespaces/lab/secrets"},
      {"batch/v1", "Job", "/apis/batch/v1/namespaces/lab/jobs"},
      {"scheduling.volcano.sh/v1beta1", "PodGroup",
       "/apis/scheduling.volcano.sh/v1beta1/namespaces/lab/podgroups"},
      {"scheduling.k8s.io/v1alpha1", "Workload",
       "/apis/scheduling.k8s.io/v1alpha1/namespaces/lab/workloads"},
      {"v1", "Node", ""},
  };
  for (const auto& [version, kind, path] : kCases) {
    EXPECT_EQ(collection_path({{"apiVersion", version}, {"kind", kind}}, "lab"), path);
  }
  EXPECT_EQ(collection_path(Json::object(), "lab"), "");
}

}  // namespace
}  // namespace gangrun::kubernetes::pods
