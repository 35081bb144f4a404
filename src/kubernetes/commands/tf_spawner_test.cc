#include "kubernetes/commands/tf_spawner.h"

#include <gmock/gmock.h>

#include "jobfile/yaml_json.h"
#include "kubernetes/pods/kubernetes_options.h"
#include "kubernetes/pods/kubernetes_rules.h"

namespace gangrun::kubernetes::commands {
namespace {

using base::Json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;
using testing::StartsWith;

// As one would write it for tf-spawner itself.
constexpr std::string_view kOldPod = R"(
apiVersion: v1
kind: Pod
metadata: {name: PODNAME, labels: {app: APPNAME, training_attempt: ATTEMPT, team: physics}}
spec:
  containers:
    - name: tf
      image: other
      env:
      resources: {limits: {nvidia.com/gpu: 1}}
      volumeMounts:
        - {name: code, mountPath: /script}
        - {name: data, mountPath: /data}
      command: [python, -u, /script/training-script.py]
  volumes:
    - {name: code, configMap: {name: script}}
    - {name: data, emptyDir: {}}
  restartPolicy: Never
)";

jobfile::RulesOfPlaces places() { return jobfile::RulesOfPlaces({pods::kubernetes_rules()}); }

TfSpawnerFiles script() { return {.script = "print(1)\n"}; }

KubernetesLaunch launch_of(const TfSpawnerOptions& options, const TfSpawnerFiles& files = script(),
                           const std::string& tag = "tf-spawner") {
  auto launch = tf_spawner_launch(options, files, tag, places());
  EXPECT_TRUE(launch.ok()) << launch.error().message;
  return launch.ok() ? *std::move(launch) : KubernetesLaunch{};
}

std::string error_of(const TfSpawnerOptions& options, const TfSpawnerFiles& files = script()) {
  const auto launch = tf_spawner_launch(options, files, "tf-spawner", places());
  return launch.ok() ? "" : launch.error().message;
}

TEST(TfSpawner, HasItsDefaults) {
  const KubernetesLaunch launch = launch_of({});
  EXPECT_EQ(launch.spec.name, "tf-spawner");
  EXPECT_EQ(launch.spec.on, "kubernetes");
  EXPECT_EQ(launch.spec.image, "tensorflow/tensorflow:2.1.0-py3");
  EXPECT_EQ(launch.spec.find("worker")->instances, 2);
  EXPECT_EQ(launch.spec.command, (job::Command{{"python", "/script/training-script.py"}, ""}));
  EXPECT_EQ(pods::kubernetes_of(launch.spec).name_space, "");
  EXPECT_THAT(pods::kubernetes_of(launch.spec).labels,
              ElementsAre(Pair("training_attempt", "tf-spawner")));
  ASSERT_EQ(launch.files.size(), 1U);
  EXPECT_EQ(launch.files[0].path, "/script/training-script.py");
  EXPECT_EQ(launch.files[0].content, "print(1)\n");
  EXPECT_THAT(launch.names.pods, ElementsAre(Pair(job::TaskId{"worker", 0}, "worker0"),
                                             Pair(job::TaskId{"worker", 1}, "worker1")));
  EXPECT_TRUE(launch.names.has_service_per_task);
  EXPECT_EQ(launch.names.script_config_map, "script");
  EXPECT_EQ(launch.names.first_port, 1999);
}

TEST(TfSpawner, HasAgentsThatUsersDoNotCount) {
  TfSpawnerOptions options;
  options.tensorboard = "/logs";
  const KubernetesLaunch launch = launch_of(options);
  EXPECT_EQ(pods::agents_by(launch.spec), pods::AgentsBy::kConfigMaps);
  EXPECT_EQ(launch.names.tasks_label, "training_attempt");
}

TEST(TfSpawner, RunsWithoutAgentsForWhoLacksTheRightsForThem) {
  job::JobSpec spec = launch_of({}).spec;
  EXPECT_EQ(leave_out_agents(spec, {}, "ml"), "");
  EXPECT_EQ(leave_out_agents(spec, {{"create", "", "pods"}}, "ml"), "");
  EXPECT_TRUE(pods::has_agents(spec));
  EXPECT_EQ(
      leave_out_agents(spec, {{"create", "", "pods"}, {"patch", "", "configmaps", "", true}}, "ml"),
      "no agents run beside the workers, as in the namespace 'ml' you have no right to patch "
      "configmaps: this run is without commands that begin together, restarts in the same "
      "pods, results, figures and `gangrun exec`");
  EXPECT_FALSE(pods::has_agents(spec));
}

TEST(TfSpawner, WhatAWorkerAsksForStandsInItsTemplateOnly) {
  const job::TaskSpec worker = *launch_of({}).spec.find("worker");
  EXPECT_EQ(worker.resources.vcores, 0);
  EXPECT_EQ(worker.resources.memory_mib, 0);
}

TEST(TfSpawner, FlagsReachTheJob) {
  TfSpawnerOptions options;
  options.workers = "3";
  options.port = "2000";
  options.name_space = "ml";
  options.image = "tf:2.15";
  options.kubeconfig = "/k";
  options.context = "big";
  options.outputs = {"model/"};
  options.timeouts = {"allocation=5m"};
  options.restarts = "2";
  options.agents = "none";
  const KubernetesLaunch launch = launch_of(options, script(), "Ab.1");
  EXPECT_EQ(launch.spec.find("worker")->instances, 3);
  EXPECT_EQ(launch.names.first_port, 2000);
  EXPECT_EQ(launch.spec.image, "tf:2.15");
  EXPECT_EQ(pods::kubernetes_of(launch.spec).name_space, "ml");
  EXPECT_EQ(pods::kubernetes_of(launch.spec).kubeconfig, "/k");
  EXPECT_EQ(pods::kubernetes_of(launch.spec).context, "big");
  EXPECT_THAT(*launch.spec.find("worker")->outputs, ElementsAre("model/"));
  EXPECT_EQ(launch.spec.timeouts.allocation, std::chrono::minutes(5));
  EXPECT_EQ(launch.spec.restarts, (job::Restarts{2, job::Restarts().scope}));
  EXPECT_EQ(pods::agents_by(launch.spec), pods::AgentsBy::kNone);
  EXPECT_EQ(pods::kubernetes_of(launch.spec).labels.at("training_attempt"), "Ab.1");
}

TEST(TfSpawner, TheFilesOfVariablesAndCommandsAreRead) {
  TfSpawnerFiles files = script();
  files.environment = "# cloud\nS3_ENDPOINT=s3.example\n\n S3_SECRET_KEY = a=b \r\n";
  files.command = "#!/bin/bash\n\npip install scikit-learn\n  python /script/training-script.py\n";
  const KubernetesLaunch launch = launch_of({}, files);
  EXPECT_THAT(launch.spec.environment,
              ElementsAre(Pair("S3_ENDPOINT", "s3.example"), Pair("S3_SECRET_KEY", "a=b")));
  EXPECT_THAT(launch.spec.command.words,
              ElementsAre("/bin/bash", "-c",
                          "pip install scikit-learn && python /script/training-script.py"));
}

TEST(TfSpawner, ATemplateMadeForItIsTakenWithoutWhatTheRunDecides) {
  TfSpawnerFiles files = script();
  files.pod = kOldPod;
  const KubernetesLaunch launch = launch_of({}, files);
  const Json expected = *jobfile::yaml_to_json(R"(
apiVersion: v1
kind: Pod
metadata: {labels: {team: physics}}
spec:
  containers:
    - name: tf
      resources: {limits: {nvidia.com/gpu: 1}}
      volumeMounts:
        - {name: data, mountPath: /data}
  volumes:
    - {name: data, emptyDir: {}}
  restartPolicy: Never
)");
  EXPECT_EQ(launch.spec.find("worker")->pod, expected);
  EXPECT_THAT(launch.spec.command.words, ElementsAre("python", "-u", "/script/training-script.py"));
  files.command = "true";
  EXPECT_THAT(launch_of({}, files).spec.command.words, ElementsAre("/bin/bash", "-c", "true"));
}

TEST(TfSpawner, TensorboardSeesTheWorkersVolumesAndNoGpu) {
  TfSpawnerOptions options;
  options.tensorboard = "/data/logs";
  options.outputs = {"model"};
  TfSpawnerFiles files = script();
  files.pod = kOldPod;
  const KubernetesLaunch launch = launch_of(options, files);
  const job::TaskSpec* board = launch.spec.find("tensorboard");
  ASSERT_NE(board, nullptr);
  EXPECT_EQ(board->policy, job::Policy::kSidecar);
  EXPECT_EQ(board->logdir, "/data/logs");
  EXPECT_EQ(board->outputs, std::nullopt);
  const Json container = board->pod["spec"]["containers"][0];
  EXPECT_FALSE(container.contains("resources"));
  EXPECT_EQ(container["volumeMounts"][0]["mountPath"], "/data");
  EXPECT_TRUE(launch_of(options).spec.find("tensorboard")->pod.is_null());
}

TEST(TfSpawner, ServicesHaveATemplateToo) {
  TfSpawnerFiles files = script();
  files.service =
      "kind: Service\nmetadata: {name: NAME, labels: {training_attempt: X, a: b}}\n"
      "spec: {type: ClusterIP}\n";
  EXPECT_EQ(launch_of({}, files).names.service_template,
            Json::parse(R"({"kind": "Service", "metadata": {"labels": {"a": "b"}},
                            "spec": {"type": "ClusterIP"}})"));
  EXPECT_TRUE(launch_of({}).names.service_template.is_null());
}

TEST(TfSpawner, ARunBesideAnotherHasNamesOfItsOwn) {
  KubernetesLaunch launch = launch_of({}, script(), "Wine_2.a");
  take_names_of_its_own(launch, "Wine_2.a");
  EXPECT_EQ(launch.names.pods.at({"worker", 1}), "worker1-wine-2-a");
  EXPECT_EQ(launch.names.script_config_map, "script-wine-2-a");
}

TEST(TfSpawner, ALongTagIsALabelWholeAndAJobsNameInPart) {
  const std::string tag = std::string(23, 'a') + "--" + std::string(38, 'b');
  const KubernetesLaunch launch = launch_of({}, script(), tag);
  EXPECT_EQ(launch.spec.name, std::string(23, 'a'));
  EXPECT_EQ(pods::kubernetes_of(launch.spec).labels.at("training_attempt"), tag);
}

TEST(TfSpawner, TheTagComesInThreeWays) {
  EXPECT_EQ(*tag_of({}, "0a1b2c3d"), "tf-spawner");
  EXPECT_EQ(*tag_of({.tag = "mine"}, "0a1b2c3d"), "mine");
  EXPECT_EQ(*tag_of({.tag = "mine", .has_random_tag = true}, "0a1b2c3d"), "0a1b2c3d");
  EXPECT_EQ(*tag_of({.positional = "script.py", .tag = "mine"}, ""), "mine");
  EXPECT_EQ(*tag_of({.deletes = true}, ""), "tf-spawner");
  EXPECT_EQ(*tag_of({.deletes = true, .tag = "mine"}, ""), "mine");
  EXPECT_EQ(*tag_of({.positional = "mine", .deletes = true}, ""), "mine");
  EXPECT_EQ(*tag_of({.positional = "mine", .deletes = true, .tag = "mine"}, ""), "mine");
}

TEST(TfSpawner, ATagThatCouldSelectSomethingElseIsRefused) {
  const auto error = [](const TfSpawnerOptions& options) {
    const auto tag = tag_of(options, "0a1b2c3d");
    return tag.ok() ? "" : tag.error().message;
  };
  EXPECT_THAT(error({.positional = "a", .deletes = true, .tag = "b"}),
              StartsWith("-d: 'a' and -t 'b' are different tags"));
  EXPECT_THAT(error({.deletes = true, .has_random_tag = true}), StartsWith("-r: "));
  for (const char* tag : {"", "-a", "a-", "a,b", "a=b", "a b"}) {
    EXPECT_THAT(error({.tag = tag}), HasSubstr("is not a tag; allowed: ")) << tag;
  }
  EXPECT_THAT(error({.tag = std::string(64, 'a')}), StartsWith("-t: "));
  EXPECT_EQ(error({.tag = std::string(63, 'a')}), "");
}

struct Bad {
  const char* error;
  void (*change)(TfSpawnerOptions&, TfSpawnerFiles&);
};

TEST(TfSpawner, TellsWhatIsWrongByFlagAndValue) {
  const Bad rows[] = {
      {"-w: '0' is not", [](auto& o, auto&) { o.workers = "0"; }},
      {"-w: 'two' is not", [](auto& o, auto&) { o.workers = "two"; }},
      {"-p: '70000' is not", [](auto& o, auto&) { o.port = "70000"; }},
      {"-e: line 2: has no '='", [](auto&, auto& f) { f.environment = "A=1\nsecret\n"; }},
      {"-e: line 1: ", [](auto&, auto& f) { f.environment = "export A=1\n"; }},
      {"-c: the file has no command", [](auto&, auto& f) { f.command = "# nothing\n\n"; }},
      {"--pod-file: ", [](auto&, auto& f) { f.pod = "kind: [Pod\n"; }},
      {"--pod-file: is not the template of a Pod",
       [](auto&, auto& f) { f.pod = "kind: Deployment\nspec: {}\n"; }},
      {"--pod-file: is not the template of a Pod", [](auto&, auto& f) { f.pod = "- a\n"; }},
      {"--pod-file: has no `spec`", [](auto&, auto& f) { f.pod = "kind: Pod\n"; }},
      {"--pod-file: has no container",
       [](auto&, auto& f) { f.pod = "kind: Pod\nspec: {containers: []}\n"; }},
      {"--pod-file: spec.containers[0].command is not a list of words",
       [](auto&, auto& f) { f.pod = "kind: Pod\nspec: {containers: [{command: python x}]}\n"; }},
      {"--service-file: is not the template of a Service",
       [](auto&, auto& f) { f.service = "kind: Pod\nspec: {}\n"; }},
      {"--service-file: has metadata or labels",
       [](auto&, auto& f) { f.service = "kind: Service\nmetadata:\nspec: {}\n"; }},
      {"--timeout: ", [](auto& o, auto&) { o.timeouts = {"alocation=1m"}; }},
      {"--agents: 'image' is not a way for agents; allowed: config_maps, none",
       [](auto& o, auto&) { o.agents = "image"; }},
      {"--restarts: 'many' is not allowed", [](auto& o, auto&) { o.restarts = "many"; }},
  };
  for (const Bad& row : rows) {
    TfSpawnerOptions options;
    TfSpawnerFiles files = script();
    row.change(options, files);
    EXPECT_THAT(error_of(options, files), StartsWith(row.error));
  }
}

// Whoever types tf-spawner has no job file, and no -r.
TEST(TfSpawner, ErrorsSpeakOfItsOwnFlagsAndFiles) {
  TfSpawnerOptions options;
  options.pod_file = "gpu.yaml";
  options.env_file = "vars";
  const std::pair<const char*, const char*> errors[] = {
      {"tasks.worker.pod.spec.hostname: cannot be given",
       "--pod-file gpu.yaml: spec.hostname: cannot be given"},
      {"tasks.tensorboard.pod.spec.x: y", "--pod-file gpu.yaml: spec.x: y"},
      {"--pod-file: has no `spec`", "--pod-file gpu.yaml: has no `spec`"},
      {"--service-file: has no `spec`", "--service-file service.yaml: has no `spec`"},
      {"-e: line 2: has no '='", "-e vars: line 2: has no '='"},
      {"--image: 'A b' is not", "-i: 'A b' is not"},
      {"kubernetes.namespace: 'A_b' is not", "-n: 'A_b' is not"},
      {"tasks.worker.outputs.0: '/a' is not", "--output: entry 0: '/a' is not"},
      {"-t: 'a b' is not a tag", "-t: 'a b' is not a tag"},
  };
  for (const auto& [theirs, ours] : errors) {
    EXPECT_EQ(in_own_words(base::invalid_argument(theirs), options).message, ours);
  }
}

TEST(TfSpawner, ALineThatLostItsNameIsNotShown) {
  TfSpawnerFiles files = script();
  files.environment = "hunter2\n";
  EXPECT_THAT(error_of({}, files), testing::Not(HasSubstr("hunter2")));
}

}  // namespace
}  // namespace gangrun::kubernetes::commands
