#include "kubernetes/pods/kubernetes_rules.h"

#include <gmock/gmock.h>

#include "base/format.h"
#include "jobfile/build.h"
#include "jobfile/spec_yaml.h"
#include "kubernetes/pods/kubernetes_options.h"
#include "places/places.h"

namespace gangrun::jobfile {
namespace {

std::string kubernetes_rules_error(const std::string& yaml) {
  const auto draft = parse_spec(yaml, "", places::rules().sections());
  if (!draft.ok()) return draft.error().message;
  const auto spec = build(*draft, {}, {"job.yaml", &places::rules()});
  return spec.ok() ? "" : spec.error().message;
}

// The words after the position.
void expect_error(const std::string& yaml, const std::string& message) {
  EXPECT_THAT(kubernetes_rules_error(yaml), testing::HasSubstr(message)) << yaml;
}

std::string with_options(const std::string& options) {
  return "tasks: {w: }\ncommand: x\nimage: a\non: kubernetes\nkubernetes: {" + options + "}\n";
}

TEST(KubernetesName, IsALabelOfDns) {
  EXPECT_EQ(kubernetes::pods::kubernetes_name("Data_Server"), "data-server");
  EXPECT_EQ(kubernetes::pods::kubernetes_name("wine.v2"), "wine-v2");
  EXPECT_EQ(kubernetes::pods::kubernetes_name("2026"), "job-2026");
  EXPECT_EQ(kubernetes::pods::kubernetes_name(""), "");
}

TEST(KubernetesRules, TakesNamesAsKubernetesHasThem) {
  for (const char* options : {
           "namespace: a-1",
           "service_account: a.b-c.d",
           "labels: {a: '', a.b_c-D: v.1_2-Z, x.y/z: w}",
           "annotations: {a: 'any ü text'}",
           "node_selector: {kubernetes.io/hostname: node-1}",
           "tolerations: []",
           "image_pull_policy: Always",
           "agents: config_maps",
           "pod: {apiVersion: v1, kind: Pod, metadata: {}, spec: {containers: []}}",
           "master: {service_account: leader, memory: 512 MiB, vcores: 2, keep: 0}",
           "relay: {memory: 128 MiB, vcores: 1}",
           "journal: {claim: a-1, path: b/c}",
           "volumes: [{name: a, nfs: {server: b, path: /c}}], journal: {volume: a}",
       }) {
    EXPECT_EQ(kubernetes_rules_error(with_options(options)), "") << options;
  }
}

TEST(KubernetesRules, OutputsComeFromPodsWithAndWithoutAgents) {
  for (const char* agents : {"none", "config_maps"}) {
    EXPECT_EQ(
        kubernetes_rules_error(with_options(base::format("agents: {}", agents)) + "outputs: [a]\n"),
        "");
  }
}

// P8: before the API server sees it.
TEST(KubernetesRules, RefusesNamesThatItWouldRefuse) {
  const std::string long_part(64, 'a');
  const std::pair<std::string, std::string> cases[] = {
      {"namespace: a.b", "kubernetes.namespace: 'a.b' is not the name of a namespace; allowed: "},
      {"namespace: " + long_part, "kubernetes.namespace: 'aaaa"},
      {"service_account: a_b", "kubernetes.service_account: 'a_b' is not the name of a service"},
      {"priority_class: High", "kubernetes.priority_class: 'High' is not the name of a priority"},
      {"labels: {-a: b}", "kubernetes.labels.-a: '-a' is not a key; allowed: "},
      {"labels: {A.b/: b}", "kubernetes.labels.A.b/: 'A.b/' is not a key"},
      {"labels: {a: b c}", "kubernetes.labels.a: 'b c' is not the value of a label; allowed: "},
      {"labels: {a: " + long_part + "}", "kubernetes.labels.a: 'aaaa"},
      {"labels: {gangrun/job: b}", "'gangrun/job' is one of gangrun's own"},
      {"annotations: {a b: c}", "kubernetes.annotations.a b: 'a b' is not a key"},
      {"node_selector: {a: /}", "kubernetes.node_selector.a: '/' is not the value of a label"},
      {"tolerations: [{}, {efect: x}]",
       "kubernetes.tolerations.1: 'efect' is not a key of a toleration; did you mean 'effect'? "},
      {"volumes: [{emptyDir: {}}]", "kubernetes.volumes.0: has no name, a text, which it needs"},
      {"volumes: [{name: A}]", "kubernetes.volumes.0: 'A' is not the name of a volume"},
      {"volumes: [{name: a}, {name: a}]", "kubernetes.volumes.1: 'a' is given twice"},
      {"volume_mounts: [{name: a}]", "kubernetes.volume_mounts.0: has no mountPath"},
      {"master: {service_account: a_b}",
       "kubernetes.master.service_account: 'a_b' is not the name of a service account; allowed: "},
      {"master: {keep: 8d}",
       "kubernetes.master.keep: '192 h' is not allowed; allowed: at least 0 s, at most 168 h"},
      {"master: {gpus: 1}",
       "'gpus' is not a known key; allowed: service_account, memory, vcores, keep"},
      {"journal: {claim: a_b}",
       "kubernetes.journal.claim: 'a_b' is not the name of a persistent volume claim; allowed: "},
      {"journal: {volume: a}", "kubernetes.journal.volume: 'a' is none of `volumes` of "},
      {"image_pull_secrets: ['']", "kubernetes.image_pull_secrets.0: is empty"},
      {"image_pull_policy: always",
       "kubernetes.image_pull_policy: 'always' is not when images are pulled; did you mean "
       "'Always'? allowed: Always, IfNotPresent, Never"},
      {"helper_image: A", "kubernetes.helper_image: 'A' is not the name of an image"},
      {"agent_image: A", "kubernetes.agent_image: 'A' is not the name of an image"},
      {"agents: image",
       "kubernetes.agents: 'image' needs `agent_image` of `kubernetes`, the image that brings the "
       "agent; allowed: that too, or config_maps, none"},
      {"pod: {specs: {}}", "kubernetes.pod: 'specs' is not a key of a pod; did you mean 'spec'?"},
      {"pod: {kind: Deployment}",
       "kubernetes.pod.kind: '\"Deployment\"' is not that of a pod; allowed: Pod"},
      {"pod: {spec: [a]}", "kubernetes.pod.spec: '[\"a\"]' is not allowed; allowed: a map"},
  };
  for (const auto& [options, message] : cases) expect_error(with_options(options), message);
}

TEST(KubernetesRules, AnImageThatBringsAgentsIsUsedUnlessAnotherWayIsNamed) {
  using kubernetes::pods::AgentsBy;
  const auto way = [](const std::string& options) {
    const auto draft = parse_spec(with_options(options), "job.yaml", places::rules().sections());
    const auto spec = build(draft.value(), {}, {.places = &places::rules()});
    return kubernetes::pods::agents_by(spec.value());
  };
  EXPECT_EQ(way("agent_image: a"), AgentsBy::kImage);
  EXPECT_EQ(way("agent_image: a, agents: image"), AgentsBy::kImage);
  EXPECT_EQ(way("agent_image: a, agents: config_maps"), AgentsBy::kConfigMaps);
  EXPECT_EQ(way("agent_image: a, agents: none"), AgentsBy::kNone);
  EXPECT_EQ(way(""), AgentsBy::kConfigMaps);
}

TEST(KubernetesRules, NoTaskAsksForMoreProcessorsThanItMayUse) {
  const auto job = [](const std::string& task, int limit) {
    return base::format(
        "tasks: {{w: {{instances: 2, {}}}}}\ncommand: x\nimage: a\non: kubernetes\n"
        "kubernetes: {{vcores_limit: {}}}\n",
        task, limit);
  };
  EXPECT_EQ(kubernetes_rules_error(job("vcores: 4", 4)), "");
  EXPECT_EQ(kubernetes_rules_error(job("vcores: 4", 0)), "");
  expect_error(job("vcores: 4", 2),
               "kubernetes.vcores_limit: 2 is less than tasks.w.vcores: 4; allowed: that or more");
  expect_error(job("vcores: 1, overrides: {1: {vcores: 3}}", 2), "tasks.w.vcores: 3; allowed: ");
  expect_error(job("vcores: 1", -1), "kubernetes.vcores_limit: '-1'");
}

TEST(KubernetesRules, AnnotationsHaveALimitTogether) {
  job::JobSpec job;
  kubernetes::pods::edit_kubernetes(job).annotations = {{"a", std::string(100'000, 'x')},
                                                        {"b", std::string(100'000, 'x')},
                                                        {"c", std::string(100'000, 'x')}};
  const auto found = places::rules().check(job);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->text, "300003 bytes are more than the limit of 262144 for all together");
}

TEST(KubernetesRules, RefusesWhatPodsWithoutAgentsDoNotHave) {
  const std::string refused = " is not allowed with `on: kubernetes`; ";
  const auto job = [](const std::string& task, const std::string& keys) {
    return "tasks: {w: {" + task + "}}\ncommand: x\nimage: a\non: kubernetes\n" +
           "kubernetes: {agents: none}\n" + keys + "\n";
  };
  const std::pair<std::string, std::string> tasks[] = {
      {"processes: 2", "tasks.w.processes: '2'"},
      {"spares: 1", "tasks.w.spares: '1'"},
      {"instances: 3, min_instances: 2", "tasks.w.min_instances: '2'"},
      {"ports: {hold: until-exec}", "tasks.w.ports.hold: 'until-exec'"},
      {"label: gpu", "tasks.w.label: 'gpu'"},
      {"archives: {env: a.zip}", "tasks.w.archives.env: 'a.zip'"},
      {"resources: {fpga: 1}", "tasks.w.resources: 'fpga'"},
      {"overrides: {0: {resources: {fpga: 1}}}", "tasks.w.resources: 'fpga'"},
  };
  for (const auto& [task, message] : tasks) expect_error(job(task, ""), message + refused);
  const std::pair<std::string, std::string> keys[] = {
      {"hosts: [h]", "hosts: 'h'"},
      {"interface: eth0", "interface: 'eth0'"},
      {"mounts: [/data]", "mounts: '/data'"},
      {"archives: {env: a.zip}", "archives.env: 'a.zip'"},
      {"containment: cgroup", "containment: 'cgroup'"},
      {"stop_signal: SIGINT", "stop_signal: 'INT'"},
      {"stop_signal_to: group", "stop_signal_to: 'group'"},
      {"framework: horovod", "framework: 'horovod'"},
      {"files: ['hdfs://nn/a']", "files.0: 'hdfs://nn/a'"},
      {"files: ['file:///a']", "files.0: 'file:///a'"},
  };
  for (const auto& [key, message] : keys) expect_error(job("", key), message + refused);
  expect_error(job("", "zookeeper: {hosts: [h]}"), "zookeeper: is not allowed");
  expect_error("tasks: {w: , v: {image: a}}\ncommand: x\non: k8s\n",
               "tasks.w.image: w has no image, and with `on: kubernetes` every task runs in one");
  expect_error(job("image: ''", ""), "tasks.w.image: w has no image");
}

TEST(KubernetesRules, TakesWhatAgentsBring) {
  for (const char* task : {"processes: 2", "spares: 1", "instances: 3, min_instances: 2",
                           "ports: {hold: until-exec}"}) {
    EXPECT_EQ(kubernetes_rules_error(base::format(
                  "tasks: {{w: {{{}}}}}\ncommand: x\nimage: a\non: kubernetes\n", task)),
              "");
  }
  for (const char* key : {"stop_signal: SIGINT", "stop_signal_to: group", "framework: horovod"}) {
    EXPECT_EQ(kubernetes_rules_error(
                  base::format("tasks: {{w: }}\ncommand: x\nimage: a\non: kubernetes\n{}\n", key)),
              "");
  }
}

TEST(KubernetesRules, TakesWhatPodsHave) {
  EXPECT_EQ(kubernetes_rules_error(R"(tasks:
  worker: {instances: 2, min_instances: 2, one_per_node: true, gpus: 1, ports: {n: 2}}
  ps: {image: d, resources: {example.com/fpga: 1, ephemeral-storage: 7, hugepages-2Mi: 1}}
  tensorboard: {logdir: out, expose: host}
command: x
image: a
files: [train.py]
on: kubernetes
yarn: {queue: root.a, tags: [b]}
restarts: {max: 2, scope: gang}
)"),
            "");
}

TEST(KubernetesRules, NamesOfPodsFitAndDiffer) {
  const auto job = [](const std::string& name, const std::string& tasks) {
    return "name: " + name + "\ntasks: " + tasks + "\ncommand: x\nimage: a\non: kubernetes\n";
  };
  expect_error(job("n", "{Data_server: , data-server: }"),
               "tasks.data-server: 'Data_server' and 'data-server' would both be called "
               "data-server on Kubernetes; allowed: ");
  EXPECT_EQ(kubernetes_rules_error(job(std::string(33, 'n'), "{worker: }")), "");
  expect_error(
      job(std::string(34, 'n'), "{worker: }"),
      "name: '" + std::string(34, 'n') +
          "' is too long: the pod of worker:0 would have a name of 64 characters, of which "
          "Kubernetes allows 63; allowed: at most 33, or a shorter task type");
  expect_error(job("2" + std::string(32, 'n'), "{worker: }"), "allowed: at most 29, or a shorter");
  EXPECT_EQ(kubernetes_rules_error(job("n", "{" + std::string(38, 't') + ": }")), "");
  EXPECT_EQ(kubernetes_rules_error(job("nn", "{" + std::string(37, 't') + ": }")), "");
  expect_error(job("nn", "{" + std::string(38, 't') + ": }"), "allowed: at most 1, or a shorter");
  expect_error(job("n", "{" + std::string(40, 't') + ": }"), "allowed: a task type of at most 38");
}

TEST(Outputs, AreKeptWhereTasksWorkInFoldersThatGo) {
  expect_error(
      "tasks: {w: }\ncommand: x\non: yarn\nkeep_folders: true\n",
      "keep_folders: 'true' is not allowed with `on: yarn`; tasks work in the folder of "
      "their container, which YARN removes: name what is to stay in `outputs`, or write it "
      "to a file system that all see");
  EXPECT_EQ(kubernetes_rules_error("tasks: {w: {outputs: [a]}}\ncommand: x\non: yarn\n"
                                   "outputs: [b]\noutputs_limit: 1g\n"),
            "");
  expect_error(
      "tasks: {w: }\ncommand: x\non: spark\noutputs: [a]\n",
      "outputs: 'a' is not allowed with `on: spark`; tasks work in the folder of their "
      "executor, which Spark removes: write what is to stay to a file system that all see");
  // On this machine they are there already.
  EXPECT_EQ(kubernetes_rules_error("tasks: {w: {outputs: [a]}}\ncommand: x\noutputs: [b]\n"), "");
}

TEST(KubernetesRules, OtherPlacesRefuseOrPassOverWhatItIsTold) {
  const std::string options = "kubernetes: {queue: a}\n";
  const std::string job = "tasks: {w: }\ncommand: x\n";
  const std::string pod = "tasks: {w: {pod: {spec: {}}}}\ncommand: x\n";
  for (const std::string place : {"local", "spark"}) {
    const std::string end =
        " is not allowed with `on: " + place + "`; allowed with `on: kubernetes`";
    expect_error(pod + "on: " + place + "\n", "tasks.w.pod: '{\"spec\":{}}'" + end);
  }
  EXPECT_EQ(kubernetes_rules_error(job + options + "on: spark\n"), "");
  EXPECT_EQ(kubernetes_rules_error(job + options + "on: local\n"), "");
  EXPECT_EQ(kubernetes_rules_error(job + options + "on: yarn\n"), "");
  EXPECT_EQ(kubernetes_rules_error(pod + "on: yarn\n"), "");
}

}  // namespace
}  // namespace gangrun::jobfile
