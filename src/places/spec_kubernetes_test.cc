#include <gmock/gmock.h>

#include "jobfile/build.h"
#include "jobfile/plan_json.h"
#include "jobfile/spec_yaml.h"
#include "kubernetes/pods/kubernetes_options.h"
#include "places/places.h"
#include "yarn/yarn_options.h"

namespace gangrun::jobfile {
namespace {

base::Result<job::JobSpec> pods_from(const std::string& yaml, const Flags& flags = {}) {
  GANGRUN_ASSIGN(const JobDraft draft, parse_spec(yaml, "job.yaml", places::rules().sections()));
  return build(draft, flags, {"job.yaml", &places::rules()});
}

std::string spec_kubernetes_error(const std::string& yaml, const Flags& flags = {}) {
  const auto spec = pods_from(yaml, flags);
  return spec.ok() ? "" : spec.error().message;
}

constexpr const char* kWholePods = R"(tasks:
  worker: {instances: 2, pod: {spec: {hostNetwork: true}}, outputs: [own]}
  ps: {outputs: []}
command: x
image: a/b:c
outputs: [model/, log.txt]
on: k8s
kubernetes:
  kubeconfig: config
  context: prod
  insecure: true
  namespace: ml
  service_account: trainer
  labels: {team: a, example.com/run: "7"}
  annotations: {note: "any text: here"}
  node_selector: {disk: ssd}
  tolerations: [{key: gpu, operator: Exists, tolerationSeconds: 60}]
  volumes: [{name: data, persistentVolumeClaim: {claimName: wine}}, {name: tmp, emptyDir: {}}]
  volume_mounts: [{name: data, mountPath: /data, readOnly: true}]
  image_pull_secrets: [registry]
  image_pull_policy: IfNotPresent
  priority_class: high
  queue: team-a
  gang_scheduling: kueue
  pod: {metadata: {annotations: {n: "1"}}, spec: {terminationGracePeriodSeconds: 5}}
  vcores_limit: 8
  helper_image: busybox:1.36
  agents: config_maps
  agent_image: registry/gangrun-agent:0.1.0
)";

TEST(Kubernetes, AFileSaysWhatItIsTold) {
  const auto spec = pods_from(kWholePods);
  ASSERT_TRUE(spec.ok()) << spec.error().message;
  EXPECT_EQ(spec->on, "kubernetes");
  kubernetes::pods::KubernetesOptions expected;
  expected.kubeconfig = "config";
  expected.context = "prod";
  expected.insecure = true;
  expected.name_space = "ml";
  expected.service_account = "trainer";
  expected.labels = {{"team", "a"}, {"example.com/run", "7"}};
  expected.annotations = {{"note", "any text: here"}};
  expected.node_selector = {{"disk", "ssd"}};
  expected.tolerations = {{{"key", "gpu"}, {"operator", "Exists"}, {"tolerationSeconds", 60}}};
  expected.volumes = {
      {{"name", "data"}, {"persistentVolumeClaim", {{"claimName", "wine"}}}},
      {{"name", "tmp"}, {"emptyDir", base::Json::object()}},
  };
  expected.volume_mounts = {{{"name", "data"}, {"mountPath", "/data"}, {"readOnly", true}}};
  expected.image_pull_secrets = {"registry"};
  expected.image_pull_policy = "IfNotPresent";
  expected.priority_class = "high";
  expected.queue = "team-a";
  expected.gang_scheduling = kubernetes::pods::GangScheduling::kKueue;
  expected.pod = {{"metadata", {{"annotations", {{"n", "1"}}}}},
                  {"spec", {{"terminationGracePeriodSeconds", 5}}}};
  expected.vcores_limit = 8;
  expected.helper_image = "busybox:1.36";
  expected.agents = kubernetes::pods::AgentsBy::kConfigMaps;
  expected.agent_image = "registry/gangrun-agent:0.1.0";
  EXPECT_EQ(kubernetes::pods::kubernetes_of(*spec), expected);
  EXPECT_THAT(*spec->outputs, testing::ElementsAre("model/", "log.txt"));
  const job::TaskSpec& worker = *spec->find("worker");
  EXPECT_EQ(worker.pod, (base::Json{{"spec", {{"hostNetwork", true}}}}));
  EXPECT_THAT(*worker.outputs, testing::ElementsAre("own"));
  EXPECT_TRUE(spec->find("ps")->outputs->empty());
  EXPECT_TRUE(spec->find("ps")->pod.is_null());
}

TEST(Kubernetes, AFlagBeginsAListThatTheFileHasNot) {
  Flags flags;
  flags.job_lists["outputs"] = {"model/"};
  const auto spec = pods_from("tasks: {w: }\ncommand: x\non: kubernetes\nimage: a\n", flags);
  ASSERT_TRUE(spec.ok()) << spec.error().message;
  EXPECT_THAT(*spec->outputs, testing::ElementsAre("model/"));
}

TEST(Kubernetes, FlagsWinOverTheFileAndAddToItsLists) {
  Flags flags;
  flags.job_lists["outputs"] = {"more"};
  flags.queue = "b";
  flags.job_fields["kubernetes.namespace"] = "other";
  flags.job_fields["kubernetes.context"] = "test";
  flags.job_fields["kubernetes.kubeconfig"] = "k";
  flags.job_switches["kubernetes.insecure"] = true;
  flags.job_fields["kubernetes.service_account"] = "s";
  flags.job_lists["kubernetes.node_selector"] = {"disk=hdd,zone=", "a/b=c"};
  flags.job_lists["kubernetes.image_pull_secrets"] = {"x,y"};
  flags.job_fields["kubernetes.priority_class"] = "low";
  flags.job_fields["kubernetes.gang_scheduling"] = "hold";
  const auto spec = pods_from(kWholePods, flags);
  ASSERT_TRUE(spec.ok()) << spec.error().message;
  const kubernetes::pods::KubernetesOptions& own = kubernetes::pods::kubernetes_of(*spec);
  EXPECT_THAT(*spec->outputs, testing::ElementsAre("model/", "log.txt", "more"));
  EXPECT_EQ(own.queue, "b");
  EXPECT_EQ(yarn::yarn_of(*spec), yarn::YarnOptions{});
  EXPECT_EQ(own.name_space, "other");
  EXPECT_EQ(own.context, "test");
  EXPECT_EQ(own.kubeconfig, "k");
  EXPECT_EQ(own.service_account, "s");
  EXPECT_EQ(own.node_selector,
            (std::map<std::string, std::string>{{"a/b", "c"}, {"disk", "hdd"}, {"zone", ""}}));
  EXPECT_THAT(own.image_pull_secrets, testing::ElementsAre("registry", "x", "y"));
  EXPECT_EQ(own.priority_class, "low");
  EXPECT_EQ(own.gang_scheduling, kubernetes::pods::GangScheduling::kHold);
}

TEST(Kubernetes, WhatIsNotGivenIsNotWritten) {
  EXPECT_FALSE(to_json(job::JobSpec{}).contains("kubernetes"));
  job::JobSpec job;
  kubernetes::pods::edit_kubernetes(job).name_space = "ml";
  kubernetes::pods::edit_kubernetes(job).pod = base::Json::object();
  EXPECT_EQ(base::dump_json(to_json(job).at("kubernetes")),
            R"({"namespace":"ml","gang_scheduling":"auto","pod":{}})");
}

TEST(BadKubernetes, WrongTypesAndKeys) {
  const std::string base = "tasks: {w: }\ncommand: x\nimage: a\non: kubernetes\n";
  const std::pair<std::string, std::string> files[] = {
      {"kubernetes: {name_space: a}\n",
       "job.yaml:5:14: kubernetes: 'name_space' is not a known key; did you mean 'namespace'?"},
      {"kubernetes: {labels: [a]}\n",
       "job.yaml:5:22: kubernetes.labels: a list is not allowed; allowed: a map of keys to texts"},
      {"kubernetes: {labels: {a: {}}}\n",
       "job.yaml:5:26: kubernetes.labels.a: a map is not allowed; allowed: a text"},
      {"kubernetes: {tolerations: {a: b}}\n",
       "job.yaml:5:27: kubernetes.tolerations: a map is not allowed; allowed: a list of maps"},
      {"kubernetes: {volumes: [data]}\n",
       "job.yaml:5:24: kubernetes.volumes.0: 'data' is not allowed; allowed: a map"},
      {"kubernetes: {pod: pod.yaml}\n",
       "job.yaml:5:19: kubernetes.pod: 'pod.yaml' is not allowed; allowed: a map, a pod or a part"},
      {"kubernetes: {insecure: yes}\n",
       "job.yaml:5:24: kubernetes.insecure: 'yes' is not allowed; allowed: true or false"},
      {"kubernetes: {gang_scheduling: kueu}\n",
       "job.yaml:5:31: kubernetes.gang_scheduling: 'kueu' is not what schedules a gang; did you "
       "mean 'kueue'? allowed: auto, kueue, volcano, workload, hold"},
      {"outputs: model\n",
       "job.yaml:5:10: outputs: 'model' is not allowed; allowed: a list of paths"},
  };
  for (const auto& [text, message] : files) {
    EXPECT_THAT(spec_kubernetes_error(base + text), testing::StartsWith(message)) << text;
  }
}

TEST(BadKubernetes, Flags) {
  const std::string file = "tasks: {w: }\ncommand: x\nimage: a\n";
  const std::pair<Flags, std::string> cases[] = {
      {{.job_fields = {{"on", "k8s"}}, .job_lists = {{"kubernetes.node_selector", {"a"}}}},
       "--node-selector: 'a': has no '='; it is written KEY=VALUE"},
      {{.job_fields = {{"on", "k8s"}, {"kubernetes.gang_scheduling", "x"}}},
       "--gang-scheduling: 'x' is not what schedules"},
      {{.job_fields = {{"on", "k8s"}, {"kubernetes.namespace", "A"}}},
       "--namespace: kubernetes.namespace: 'A' is not the name"},
      {{.job_fields = {{"on", "k8s"}}, .job_lists = {{"outputs", {"../a"}}}},
       "--output: outputs.0: '../a' is not the path"},
      {{.job_fields = {{"on", "k8s"}}, .job_lists = {{"kubernetes.image_pull_secrets", {"a,B"}}}},
       "--image-pull-secret: kubernetes.image_pull_secrets.1: 'B' is not the name of a secret"},
      {{.job_fields = {{"on", "k8s"}}, .queue = "Q"},
       "--queue: kubernetes.queue: 'Q' is not the name of a queue"},
      // A file may be for both clusters, a flag is for this run.
      {{.job_fields = {{"on", "k8s"}, {"yarn.priority", "3"}}},
       "--priority: yarn.priority is not allowed with `on: kubernetes`; allowed with `on: yarn`"},
      {{.job_fields = {{"on", "yarn"}, {"kubernetes.namespace", "a"}}},
       "--namespace: kubernetes.namespace is not allowed with `on: yarn`; allowed with `on: "
       "kubernetes`"},
      {{.job_fields = {{"kubernetes.namespace", "a"}}},
       "--namespace: kubernetes.namespace is not allowed with `on: local`; allowed with "
       "`on: kubernetes`"},
  };
  for (const auto& [flags, message] : cases) {
    EXPECT_THAT(spec_kubernetes_error(file, flags), testing::StartsWith(message));
  }
}

}  // namespace
}  // namespace gangrun::jobfile
