#include <gmock/gmock.h>

#include "kubernetes/pods/kubernetes_options.h"
#include "kubernetes/pods/manifests_for_tests.h"

namespace gangrun::kubernetes::pods {
namespace {

using base::Json;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;

const job::TaskId kTask{"worker", 1};

Json pod_of(const ManifestInput& input, const PodRun& run = test::run_with({})) {
  return Manifests::make(input).value().pod(kTask, run, test::wine_owner());
}

Json container_of(const ManifestInput& input, const PodRun& run = test::run_with({})) {
  return pod_of(input, run)["spec"]["containers"].at(0);
}

TEST(PodManifest, RunsTheCommandInItsImage) {
  const PodRun run = test::run_with({{"B", "2"}, {"A", "$(B) costs $5"}});
  const Json pod = pod_of(test::wine_job(), run);
  EXPECT_EQ(pod, Json::parse(R"json({
      "apiVersion": "v1", "kind": "Pod",
      "metadata": {
        "name": "wine-20260131-120000-3fa1-worker-1", "namespace": "lab",
        "labels": {"gangrun/job": "wine-20260131-120000-3fa1",
                   "app.kubernetes.io/managed-by": "gangrun", "gangrun/attempt": "3",
                   "gangrun/task": "worker-1", "gangrun/type": "worker"},
        "ownerReferences": [{"apiVersion": "batch/v1", "kind": "Job",
                             "name": "wine-20260131-120000-3fa1-owner", "uid": "u-1",
                             "controller": false, "blockOwnerDeletion": false}]},
      "spec": {
        "restartPolicy": "Never", "terminationGracePeriodSeconds": 30,
        "hostname": "worker-1", "subdomain": "wine-20260131-120000-3fa1",
        "automountServiceAccountToken": false, "enableServiceLinks": false,
        "containers": [{
          "name": "task", "image": "tf:2.15", "command": ["python", "train.py"],
          "env": [{"name": "A", "value": "$$(B) costs $5"}, {"name": "B", "value": "2"}],
          "resources": {"requests": {"cpu": "1"}},
          "volumeMounts": [{"name": "gangrun-notice", "mountPath": "/gangrun/notice"}]}],
        "volumes": [{"name": "gangrun-notice", "emptyDir": {}}]}})json"));
}

TEST(PodManifest, LeavesDollarsToTheCommand) {
  EXPECT_EQ(without_references("$(A) $A $$ $$(A) $"), "$$(A) $A $$$ $$$$(A) $");
  ManifestInput input = test::wine_job();
  input.spec.command.words.clear();
  input.spec.command.shell_line = "echo $(date)";
  EXPECT_EQ(container_of(input)["command"], (Json{"/bin/sh", "-c", "echo $$(date)"}));
}

TEST(PodManifest, RefersToSecrets) {
  ManifestInput input = test::wine_job();
  input.spec.tasks.front().environment = {{"HF_TOKEN", "hunter2"}};
  const PodRun run = test::run_with({{"HF_TOKEN", "hunter2"}, {"RUN_TOKEN", "ours"}});
  const Json pod = pod_of(input, run);
  EXPECT_THAT(pod.dump(), testing::Not(HasSubstr("hunter2")));
  const Json& environment = pod["spec"]["containers"].at(0)["env"];
  EXPECT_EQ(environment.at(0)["valueFrom"]["secretKeyRef"],
            (Json{{"name", "wine-20260131-120000-3fa1-secrets"}, {"key", "worker.HF_TOKEN"}}));
  EXPECT_EQ(environment.at(1)["value"], "ours");
}

TEST(PodManifest, AsksForResources) {
  ManifestInput input = test::wine_job();
  job::TaskSpec& task = input.spec.tasks.front();
  task.resources = {.memory_mib = 4096, .vcores = 2, .gpus = 1, .others = {{"vendor.io/nic", 3}}};
  task.overrides[1].memory_mib = 8192;
  EXPECT_EQ(container_of(input)["resources"],
            Json::parse(R"({"requests": {"cpu": "2", "memory": "8192Mi"},
                            "limits": {"memory": "8192Mi", "nvidia.com/gpu": "1",
                                       "vendor.io/nic": "3"}})"));
}

TEST(PodManifest, LeavesTheTemplatesProcessorsToAJobThatDoesNotAsk) {
  ManifestInput input = test::wine_job();
  edit_kubernetes(input.spec).pod = Json::parse(
      R"({"spec": {"containers": [{"name": "tf", "resources": {"limits": {"cpu": "500m"}}}]}})");
  EXPECT_EQ(container_of(input)["resources"], Json::parse(R"({"limits": {"cpu": "500m"}})"));
  input.spec.tasks.front().resources.vcores = 2;
  EXPECT_EQ(container_of(input)["resources"]["requests"]["cpu"], "2");
}

// A quota may ask each container for one.
TEST(PodManifest, LimitsProcessorsWhereTheJobSaysSo) {
  ManifestInput input = test::wine_job();
  EXPECT_FALSE(container_of(input)["resources"].contains("limits"));
  input.spec.outputs = {"model/"};
  input.spec.tasks.front().resources.memory_mib = 512;
  edit_kubernetes(input.spec).vcores_limit = 3;
  const Json containers = pod_of(input)["spec"]["containers"];
  EXPECT_EQ(containers.at(0)["resources"]["limits"], (Json{{"memory", "512Mi"}, {"cpu", "3"}}));
  EXPECT_EQ(containers.at(0)["resources"]["requests"], (Json{{"cpu", "1"}, {"memory", "512Mi"}}));
  EXPECT_EQ(containers.at(1)["resources"]["limits"], (Json{{"cpu", "1"}, {"memory", "256Mi"}}));
}

// With 64 MiB, which is what a pod has without, loaders of data die.
TEST(PodManifest, ProcessesOfATaskShareAllOfItsMemory) {
  ManifestInput input = test::wine_job();
  EXPECT_THAT(pod_of(input).dump(), Not(HasSubstr("/dev/shm")));
  input.spec.tasks.front().resources.memory_mib = 2048;
  const Json spec = pod_of(input)["spec"];
  EXPECT_THAT(spec["volumes"], Contains(Json::parse(R"({"name": "gangrun-shm", "emptyDir": {
      "medium": "Memory", "sizeLimit": "2048Mi"}})")));
  EXPECT_THAT(spec["containers"].at(0)["volumeMounts"],
              Contains((Json{{"name", "gangrun-shm"}, {"mountPath", "/dev/shm"}})));
}

TEST(PodManifest, WhatTheUserHasAsSharedMemoryStays) {
  ManifestInput job = test::wine_job();
  job.spec.tasks.front().resources.memory_mib = 2048;
  ManifestInput folder = job;
  folder.spec.mounts = {{.path = "/dev/shm", .read_only = false}};
  ManifestInput volume = job;
  edit_kubernetes(volume.spec).volumes = {Json{{"name", "s"}, {"emptyDir", Json::object()}}};
  edit_kubernetes(volume.spec).volume_mounts = {Json{{"name", "s"}, {"mountPath", "/dev/shm/"}}};
  ManifestInput in_pod = job;
  edit_kubernetes(in_pod.spec).pod = Json::parse(R"({"spec": {
      "volumes": [{"name": "s", "emptyDir": {"medium": "Memory"}}], "containers": [
      {"name": "tf", "volumeMounts": [{"name": "s", "mountPath": "/dev/shm"}]}]}})");
  ManifestInput of_node = job;
  edit_kubernetes(of_node.spec).pod = Json::parse(R"({"spec": {"hostIPC": true}})");
  for (const ManifestInput& input : {folder, volume, in_pod, of_node}) {
    EXPECT_THAT(pod_of(input).dump(), Not(HasSubstr("gangrun-shm")));
  }
}

TEST(PodManifest, IsWhereAndAsWhatTheJobSays) {
  ManifestInput input = test::wine_job();
  input.spec.tasks.front().one_per_node = true;
  input.spec.timeouts.stop = std::chrono::milliseconds(1500);
  KubernetesOptions& options = edit_kubernetes(input.spec);
  options.service_account = "trainer";
  options.node_selector = {{"disk", "ssd"}};
  options.tolerations = {Json{{"key", "gpu"}}};
  options.image_pull_secrets = {"registry"};
  options.image_pull_policy = "Never";
  options.priority_class = "high";
  options.labels = {{"team", "wine"}};
  options.annotations = {{"note", "x"}};
  const Json pod = pod_of(input);
  const Json& spec = pod["spec"];
  EXPECT_EQ(spec["serviceAccountName"], "trainer");
  EXPECT_FALSE(spec.contains("automountServiceAccountToken"));
  EXPECT_EQ(spec["nodeSelector"], (Json{{"disk", "ssd"}}));
  EXPECT_EQ(spec["tolerations"].at(0)["key"], "gpu");
  EXPECT_EQ(spec["imagePullSecrets"].at(0)["name"], "registry");
  EXPECT_EQ(spec["containers"].at(0)["imagePullPolicy"], "Never");
  EXPECT_EQ(spec["priorityClassName"], "high");
  EXPECT_EQ(spec["terminationGracePeriodSeconds"], 2);
  EXPECT_EQ(pod["metadata"]["labels"]["team"], "wine");
  EXPECT_EQ(pod["metadata"]["annotations"], (Json{{"note", "x"}}));
  const Json& term =
      spec["affinity"]["podAntiAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"].at(0);
  EXPECT_EQ(term["labelSelector"]["matchLabels"],
            (Json{{"gangrun/job", input.job_id}, {"gangrun/type", "worker"}}));
}

TEST(PodManifest, KeepsAwayFromNodesBesideWhatTheUserWants) {
  ManifestInput input = test::wine_job();
  input.spec.tasks.front().one_per_node = true;
  const Json affinity = Json::parse(R"({"nodeAffinity": {
      "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [
          {"matchExpressions": [{"key": "gpu", "operator": "Exists"}]}]},
      "preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 1, "preference": {}}]}})");
  edit_kubernetes(input.spec).pod = {{"spec", {{"affinity", affinity}}}};
  PodRun run = test::run_with({});
  run.avoided = {"n1", "n2"};
  const Json merged = pod_of(input, run)["spec"]["affinity"];
  EXPECT_TRUE(merged.contains("podAntiAffinity"));
  const Json& nodes = merged["nodeAffinity"];
  const char* required = "requiredDuringSchedulingIgnoredDuringExecution";
  EXPECT_EQ(nodes[required], affinity["nodeAffinity"][required]);
  EXPECT_EQ(nodes["preferredDuringSchedulingIgnoredDuringExecution"], Json::parse(R"([
      {"weight": 1, "preference": {}},
      {"weight": 100, "preference": {"matchFields": [
          {"key": "metadata.name", "operator": "NotIn", "values": ["n1"]},
          {"key": "metadata.name", "operator": "NotIn", "values": ["n2"]}]}}])"));
}

// It would count such a pod as another kind, and never admit it.
TEST(PodManifest, ForKueueAllPodsOfATaskAreAlike) {
  ManifestInput input = test::wine_job();
  edit_kubernetes(input.spec).queue = "ml";
  input.gang_scheduling = GangScheduling::kKueue;
  PodRun run = test::run_with({});
  run.avoided = {"n1"};
  EXPECT_FALSE(pod_of(input, run)["spec"].contains("affinity"));
}

TEST(PodManifest, IsTheTemplateWithTheJobOverIt) {
  ManifestInput input = test::wine_job();
  edit_kubernetes(input.spec).pod =
      Json::parse(R"({"kind": "Pod", "metadata": {"name": "mine"}, "spec": {
      "automountServiceAccountToken": true, "restartPolicy": "Never",
      "containers": [{"name": "tf", "image": "other", "args": ["--x"], "tty": true,
                      "env": [{"name": "A", "value": "old"}, {"name": "B", "value": "kept"}]},
                     {"name": "proxy", "image": "p"}]}})");
  const Json pod = pod_of(input, test::run_with({{"A", "new"}}));
  EXPECT_EQ(pod["metadata"]["name"], "wine-20260131-120000-3fa1-worker-1");
  EXPECT_EQ(pod["spec"]["automountServiceAccountToken"], true);
  EXPECT_EQ(pod["spec"]["containers"], Json::parse(R"([
      {"name": "tf", "image": "tf:2.15", "tty": true,
       "env": [{"name": "A", "value": "new"}, {"name": "B", "value": "kept"}],
       "command": ["python", "train.py"], "resources": {"requests": {"cpu": "1"}},
       "volumeMounts": [{"name": "gangrun-notice", "mountPath": "/gangrun/notice"}]},
      {"name": "proxy", "image": "p"}])"));
}

TEST(PodManifest, HasVolumesAndFoldersOfTheHost) {
  ManifestInput input = test::wine_job();
  input.spec.mounts = {{.path = "/data", .read_only = true}};
  edit_kubernetes(input.spec).volumes = {Json{{"name", "models"}, {"emptyDir", Json::object()}}};
  edit_kubernetes(input.spec).volume_mounts = {Json{{"name", "models"}, {"mountPath", "/models"}}};
  const Json spec = pod_of(input)["spec"];
  // The server's "spec.volumes[0]" is the user's first one, and was shifted by ours.
  EXPECT_EQ(spec["volumes"], Json::parse(R"([
      {"name": "models", "emptyDir": {}},
      {"name": "gangrun-notice", "emptyDir": {}},
      {"name": "gangrun-host-0", "hostPath": {"path": "/data"}}])"));
  EXPECT_EQ(spec["containers"].at(0)["volumeMounts"], Json::parse(R"([
      {"name": "models", "mountPath": "/models"},
      {"name": "gangrun-notice", "mountPath": "/gangrun/notice"},
      {"name": "gangrun-host-0", "mountPath": "/data", "readOnly": true}])"));
  EXPECT_FALSE(spec["containers"].at(0).contains("workingDir"));
}

TEST(PodManifest, HasAWorkingFolderForFilesOfIt) {
  ManifestInput input = test::wine_job();
  input.files = {{"/script/train.py", "print(1)", false}};
  EXPECT_FALSE(container_of(input).contains("workingDir"));
  input.files.push_back({"data.csv", "1", false});
  const Json pod = pod_of(input);
  EXPECT_EQ(pod["spec"]["containers"].at(0)["workingDir"], "/gangrun/work");
  EXPECT_EQ(pod["spec"]["volumes"].at(0), Json::parse(R"({"name": "gangrun-work",
                                                          "emptyDir": {}})"));
  EXPECT_FALSE(pod["spec"].contains("initContainers"));
}

TEST(PodManifest, JoinsLargeFilesBeforeTheTaskWithNoMoreRights) {
  ManifestInput input = test::wine_job();
  input.files = {{"large", std::string(kMaxConfigMapBytes + 1, 'x'), false}};
  edit_kubernetes(input.spec).pod = Json::parse(R"({"spec": {"initContainers": [{"name": "first"}],
      "containers": [{"name": "tf", "securityContext": {"runAsUser": 7}}]}})");
  const Json init = pod_of(input)["spec"]["initContainers"];
  ASSERT_EQ(init.size(), 2U);
  EXPECT_EQ(init.at(1)["name"], "gangrun-files");
  EXPECT_EQ(init.at(1)["image"], "tf:2.15");
  EXPECT_EQ(init.at(1)["securityContext"], (Json{{"runAsUser", 7}}));
  EXPECT_THAT(init.at(1)["command"].at(2).get<std::string>(), HasSubstr("cat /gangrun/parts/0/"));
}

TEST(PodManifest, KeepsOutputsInAContainerOfTheirOwn) {
  ManifestInput input = test::wine_job();
  input.spec.outputs = {"model/"};
  const Json containers = pod_of(input)["spec"]["containers"];
  ASSERT_EQ(containers.size(), 2U);
  EXPECT_EQ(containers.at(0)["workingDir"], "/gangrun/work");
  EXPECT_EQ(containers.at(1)["name"], "outputs");
  EXPECT_EQ(containers.at(1)["image"], "tf:2.15");
  EXPECT_EQ(containers.at(1)["command"].at(2), "trap 'exit 0' TERM; sleep 605400 & wait");
  EXPECT_EQ(containers.at(1)["volumeMounts"],
            Json::array({containers.at(0)["volumeMounts"].at(0)}));

  input.spec.timeouts.job = std::chrono::minutes(1);
  edit_kubernetes(input.spec).helper_image = "busybox";
  const Json helper = pod_of(input)["spec"]["containers"].at(1);
  EXPECT_EQ(helper["image"], "busybox");
  EXPECT_THAT(helper["command"].at(2).get<std::string>(), HasSubstr("sleep 690 "));

  input.spec.tasks.front().outputs.emplace();
  EXPECT_EQ(pod_of(input)["spec"]["containers"].size(), 1U);
}

TEST(PodManifest, OfSeveralContainersTheTasksIsShownByDefault) {
  const std::string key = "kubectl.kubernetes.io/default-container";
  ManifestInput input = test::wine_job();
  EXPECT_FALSE(pod_of(input)["metadata"].contains("annotations"));
  input.spec.outputs = {"model/"};
  EXPECT_EQ(pod_of(input)["metadata"]["annotations"], (Json{{key, "task"}}));
  input.spec.outputs = {};
  edit_kubernetes(input.spec).pod =
      Json::parse(R"({"spec": {"containers": [{"name": "tf"}, {"name": "proxy", "image": "p"}]}})");
  edit_kubernetes(input.spec).annotations = {{"note", "x"}};
  EXPECT_EQ(pod_of(input)["metadata"]["annotations"], (Json{{"note", "x"}, {key, "tf"}}));
  edit_kubernetes(input.spec).annotations = {{key, "proxy"}};
  EXPECT_EQ(pod_of(input)["metadata"]["annotations"], (Json{{key, "proxy"}}));
}

TEST(PodManifest, JoinsItsGang) {
  ManifestInput input = test::wine_job();
  input.gang_scheduling = GangScheduling::kVolcano;
  EXPECT_EQ(pod_of(input)["spec"]["schedulerName"], "volcano");
}

TEST(PodManifest, MayHaveAServiceOfItsOwnName) {
  ManifestInput input = test::wine_job();
  input.names.pods = {{kTask, "worker1"}};
  input.names.has_service_per_task = true;
  const Json pod = pod_of(input);
  EXPECT_EQ(pod["metadata"]["name"], "worker1");
  EXPECT_EQ(pod["metadata"]["labels"]["app"], "worker1");
  EXPECT_FALSE(pod["spec"].contains("hostname"));
}

}  // namespace
}  // namespace gangrun::kubernetes::pods
