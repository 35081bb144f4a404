#include "kubernetes/pods/pod_template.h"

#include <gmock/gmock.h>

#include "kubernetes/pods/kubernetes_options.h"
#include "kubernetes/pods/manifests_for_tests.h"

namespace gangrun::kubernetes::pods {
namespace {

using base::Json;
using testing::HasSubstr;

Json json_of(const char* text) { return Json::parse(text); }

std::string template_refusal(const char* text) {
  const auto status = check_pod_template(json_of(text), "kubernetes.pod", "lab");
  return status.ok() ? "" : status.error().message;
}

Json merged(const char* base, const char* patch) {
  Json out = json_of(base);
  merge_pod(out, json_of(patch));
  return out;
}

TEST(PodTemplate, IsAPodOrAPartOfOne) {
  EXPECT_EQ(template_refusal("null"), "");
  EXPECT_EQ(template_refusal("{}"), "");
  EXPECT_EQ(template_refusal(R"({"spec": {"nodeName": "n", "containers": null}})"), "");
  EXPECT_EQ(
      template_refusal(R"({"metadata": {"labels": {"env": "prod"}, "creationTimestamp": null}})"),
      "");
  EXPECT_EQ(template_refusal(R"({"apiVersion": "v1", "kind": "Pod", "status": {},
                        "metadata": {"name": "worker", "namespace": "lab"},
                        "spec": {"restartPolicy": "Never", "tolerations": [{"key": "gpu"}],
                                 "containers": [{"name": "tf", "env": [{"name": "A"}],
                                                 "ports": [{"containerPort": 1}]}]}})"),
            "");
}

TEST(PodTemplate, ThatIsNoneIsRefusedByItsField) {
  const std::pair<const char*, const char*> kCases[] = {
      {"[]", "kubernetes.pod: is not a pod"},
      {R"({"kind": "Deployment"})", "kubernetes.pod.kind: \"Deployment\" is not allowed"},
      {R"({"apiVersion": "v2"})", "kubernetes.pod.apiVersion: "},
      {R"({"kind": "Pod"})", "kubernetes.pod.spec.containers: a pod has at least one"},
      {R"({"kind": "Pod", "spec": {"containers": []}})", "kubernetes.pod.spec.containers: "},
      {R"({"containers": []})", "kubernetes.pod.containers: cannot be given; allowed: apiVersion"},
      {R"({"metadata": []})", "kubernetes.pod.metadata: is not a mapping"},
      {R"({"metadata": {"namespace": "other"}})", "kubernetes.pod.metadata.namespace: "},
      {R"({"metadata": {"finalizers": []}})", "kubernetes.pod.metadata.finalizers: cannot"},
      {R"({"metadata": {"labels": {"gangrun/job": "x"}}})", "is set by gangrun"},
      {R"({"metadata": {"labels": {"a": 1}}})", "kubernetes.pod.metadata.labels.a: 1 is not"},
      {R"({"metadata": {"labels": []}})", "kubernetes.pod.metadata.labels: is not a mapping"},
      {R"({"spec": 1})", "kubernetes.pod.spec: is not a mapping"},
      {R"({"spec": {"restartPolicy": "Always"}})", "kubernetes.pod.spec.restartPolicy: "},
      {R"({"spec": {"hostname": "h"}})", "kubernetes.pod.spec.hostname: cannot be given"},
      {R"({"spec": {"subdomain": "s"}})", "kubernetes.pod.spec.subdomain: cannot be given"},
      {R"({"spec": {"containers": {}}})", "kubernetes.pod.spec.containers: is not a list"},
      {R"({"spec": {"containers": ["a"]}})", "kubernetes.pod.spec.containers.0: is not a mapping"},
      {R"({"spec": {"containers": [{}]}})", "kubernetes.pod.spec.containers.0: has no name"},
      {R"({"spec": {"containers": [{"name": "a"}, {"name": "a"}]}})",
       "containers.1: 'a' is there twice"},
      {R"({"spec": {"containers": [{"name": "outputs"}]}})", "is a container of gangrun's"},
      {R"({"spec": {"containers": [{"name": "a", "env": [{}]}]}})", "containers.0.env.0: has no"},
      {R"({"spec": {"containers": [{"name": "a", "resources": []}]}})", "containers.0.resources"},
      {R"({"spec": {"initContainers": [{}]}})", "kubernetes.pod.spec.initContainers.0: "},
      {R"({"spec": {"volumes": [{"name": "gangrun-x"}]}})", "begin with gangrun- are gangrun's"},
      {R"({"spec": {"tolerations": ["gpu"]}})", "kubernetes.pod.spec.tolerations.0: "},
  };
  for (const auto& [text, expected] : kCases) {
    EXPECT_THAT(template_refusal(text), HasSubstr(expected)) << text;
  }
}

TEST(PodTemplate, OptionsOfAJobAreChecked) {
  KubernetesOptions options;
  EXPECT_TRUE(check_pod_options(options).ok());
  options.volume_mounts = {Json{{"name", "data"}}};
  EXPECT_EQ(check_pod_options(options).error().message,
            "kubernetes.volume_mounts.0: has no mountPath");
  options.volume_mounts.clear();
  options.volumes = {Json("data")};
  EXPECT_EQ(check_pod_options(options).error().message, "kubernetes.volumes.0: is not a mapping");
}

TEST(PodMerge, GoesByNames) {
  EXPECT_EQ(merged(R"({"containers": [{"name": "a", "image": "1"}, {"name": "b"}]})",
                   R"({"containers": [{"name": "c"}, {"name": "a", "tty": true}]})"),
            json_of(R"({"containers": [{"name": "a", "image": "1", "tty": true}, {"name": "b"},
                                       {"name": "c"}]})"));
  EXPECT_EQ(merged(R"({"volumeMounts": [{"mountPath": "/a", "name": "x"}]})",
                   R"({"volumeMounts": [{"mountPath": "/a", "readOnly": true}]})"),
            json_of(R"({"volumeMounts": [{"mountPath": "/a", "name": "x", "readOnly": true}]})"));
}

TEST(PodMerge, ReplacesWhatCanOnlyBeOneThing) {
  EXPECT_EQ(merged(R"({"env": [{"name": "A", "valueFrom": {}}, {"name": "B", "value": "1"}]})",
                   R"({"env": [{"name": "A", "value": "2"}]})"),
            json_of(R"({"env": [{"name": "A", "value": "2"}, {"name": "B", "value": "1"}]})"));
  EXPECT_EQ(merged(R"({"volumes": [{"name": "d", "emptyDir": {}}]})",
                   R"({"volumes": [{"name": "d", "hostPath": {"path": "/d"}}]})"),
            json_of(R"({"volumes": [{"name": "d", "hostPath": {"path": "/d"}}]})"));
  EXPECT_EQ(merged(R"({"args": ["a", "b"]})", R"({"args": ["c"]})"), json_of(R"({"args": ["c"]})"));
}

TEST(PodMerge, KeepsTheTolerationsOfBoth) {
  EXPECT_EQ(merged(R"({"tolerations": [{"key": "a"}]})",
                   R"({"tolerations": [{"key": "a"}, {"key": "a", "effect": "NoExecute"}]})"),
            json_of(R"({"tolerations": [{"key": "a"}, {"key": "a", "effect": "NoExecute"}]})"));
}

TEST(PodMerge, RemovesByNullAndMergesMappings) {
  EXPECT_EQ(merged(R"({"a": 1, "labels": {"env": "prod", "x": "1"}})",
                   R"({"a": null, "labels": {"env": "test", "y": "2"}})"),
            json_of(R"({"labels": {"env": "test", "x": "1", "y": "2"}})"));
}

TEST(PodTemplate, OfATypeIsOverTheJobs) {
  job::JobSpec spec = test::wine_job().spec;
  edit_kubernetes(spec).pod =
      json_of(R"({"kind": "Pod", "metadata": {"name": "n", "labels": {"a": "1"}},
                                    "spec": {"containers": [{"name": "tf", "image": "tf:1"}]}})");
  spec.tasks.front().pod =
      json_of(R"({"spec": {"containers": [{"name": "tf", "image": "tf:2"}]}})");
  EXPECT_EQ(template_of(spec, spec.tasks.front()),
            json_of(R"({"apiVersion": "v1", "kind": "Pod", "metadata": {"labels": {"a": "1"}},
                        "spec": {"containers": [{"name": "tf", "image": "tf:2"}]}})"));
}

TEST(TaskContainer, IsTheOneOfThatNameOrTheFirst) {
  EXPECT_EQ(task_container(json_of(R"({"spec": {}})")), "task");
  EXPECT_EQ(task_container(json_of(R"({"spec": {"containers": [{"name": "a"}]}})")), "a");
  const Json two = json_of(R"({"spec": {"containers": [{"name": "a"}, {"name": "task"}]}})");
  EXPECT_EQ(task_container(two), "task");
  EXPECT_EQ(find_container(two, "a"), &two["spec"]["containers"][0]);
  EXPECT_EQ(find_container(two, "b"), nullptr);
}

}  // namespace
}  // namespace gangrun::kubernetes::pods
