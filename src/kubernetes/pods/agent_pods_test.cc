#include "kubernetes/pods/agent_pods.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "base/format.h"
#include "kubernetes/pods/agent_parts_for_tests.h"
#include "kubernetes/pods/hint_ports.h"
#include "kubernetes/pods/kubernetes_options.h"
#include "kubernetes/pods/manifests_for_tests.h"
#include "kubernetes/pods/pod_run.h"

namespace gangrun::kubernetes::pods {
namespace {

using base::Json;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;

ManifestInput job_with_agents() {
  ManifestInput input = test::wine_job();
  edit_kubernetes(input.spec).agents = AgentsBy::kConfigMaps;
  input.spec.environment = {{"HF_TOKEN", "hunter2"}};
  input.agents = AgentPods{.source = by_config_maps(test::small_parts()),
                           .config = base::Secret(R"({"secret": "s3"})"),
                           .token = base::Secret("t0")};
  return input;
}

Json pod_of(const ManifestInput& input) {
  return Manifests::make(input).value().pod({"worker", 1}, {.attempt = 3, .environment = {}},
                                            test::wine_owner());
}

Json relay_of(const ManifestInput& input) {
  return Manifests::make(input).value().relay({.attempt = 2, .environment = {}},
                                              test::wine_owner());
}

std::vector<std::string> names_of(const Json& list) {
  std::vector<std::string> names;
  for (const Json& each : list) names.push_back(each.at("name").get<std::string>());
  return names;
}

TEST(AgentPods, RunTheAgentInPlaceOfTheCommand) {
  const ManifestInput input = job_with_agents();
  const Json container = pod_of(input)["spec"]["containers"].at(0);
  const std::vector<std::string> words = container.at("command").get<std::vector<std::string>>();
  EXPECT_EQ(words.front(), "/gangrun/agent/loader");
  const auto agent = std::ranges::find(words, "pod");
  ASSERT_NE(agent, words.end());
  EXPECT_EQ(std::vector<std::string>(agent, words.end()),
            (std::vector<std::string>{"pod", "--task", "worker:1", "--attempt", "3", "--config",
                                      "/gangrun/config/agent.json", "--folder", "/gangrun/run",
                                      "--hint-port", "17402"}));
  EXPECT_EQ(names_of(container.at("env")), std::vector<std::string>{"GANGRUN_POD_IP"});
  EXPECT_EQ(container.at("terminationMessagePolicy"), "FallbackToLogsOnError");
  EXPECT_EQ(names_of(container.at("volumeMounts")),
            (std::vector<std::string>{"gangrun-agent", "gangrun-config", "gangrun-run"}));
  EXPECT_EQ(names_of(pod_of(input)["spec"]["volumes"]),
            (std::vector<std::string>{"gangrun-agent", "gangrun-config", "gangrun-run"}));
}

// In a cluster of two kinds of nodes they were placed where they cannot run.
TEST(AgentPods, GoOnlyToNodesThatTheAgentRunsOn) {
  ManifestInput input = job_with_agents();
  EXPECT_FALSE(pod_of(input)["spec"].contains("nodeSelector"));
  input.agents->source.architecture = "arm64";
  edit_kubernetes(input.spec).node_selector = {{"zone", "a"}};
  edit_kubernetes(input.spec).pod = Json::parse(R"({"spec": {"nodeSelector": {"disk": "ssd"}}})");
  const Json selector =
      Json::parse(R"({"disk": "ssd", "kubernetes.io/arch": "arm64", "zone": "a"})");
  for (const Json& pod : {pod_of(input), relay_of(input)}) {
    for (const auto& [label, value] : selector.items()) {
      EXPECT_EQ(pod["spec"]["nodeSelector"].at(label), value) << label;
    }
    EXPECT_EQ(pod["spec"]["nodeSelector"].size(), 3U);
  }
}

// Several may be on one node.
TEST(AgentPods, HaveAChoiceOfPortsOnTheirNodesNetwork) {
  ManifestInput input = job_with_agents();
  edit_kubernetes(input.spec).pod =
      Json::parse(R"({"spec": {"hostNetwork": true, "hostPID": true, "hostIPC": true}})");
  const Json spec = pod_of(input)["spec"];
  EXPECT_EQ(spec.at("hostNetwork"), true);
  const auto words = spec.at("containers").at(0).at("command").get<std::vector<std::string>>();
  const auto ports = Manifests::make(input).value().hint_ports_of({"worker", 1});
  EXPECT_EQ(ports.size(), kHintPortChoices);
  EXPECT_EQ(words[words.size() - 2], "--hint-port");
  EXPECT_EQ(words.back(), base::format("{}", base::join(ports, ",")));
  // The relay's are fixed.
  const Json relay = relay_of(input)["spec"];
  for (const char* shared : {"hostNetwork", "hostPID", "hostIPC"}) {
    EXPECT_FALSE(relay.contains(shared)) << shared;
  }
}

ManifestInput job_with_own_names() {
  ManifestInput input = job_with_agents();
  input.names.pods = {{{"worker", 0}, "worker0"}, {{"worker", 1}, "worker1"}};
  input.names.has_service_per_task = true;
  input.names.first_port = 1999;
  input.names.tasks_label = "attempt";
  input.spec.frameworks = {job::Framework::kTensorflow};
  edit_kubernetes(input.spec).labels = {{"attempt", "a"}, {"team", "wine"}};
  return input;
}

Json shown_pod_of(const ManifestInput& input) {
  const Manifests manifests = Manifests::make(input).value();
  const job::TaskId task{"worker", 1};
  return manifests.pod(
      task, {.attempt = 3, .environment = [&] { return shown_variables(manifests, task); }},
      test::wine_owner());
}

TEST(AgentPods, AreCalledByTheNamesThatTheJobHasForThem) {
  const Json container = shown_pod_of(job_with_own_names())["spec"]["containers"].at(0);
  const auto words = container.at("command").get<std::vector<std::string>>();
  EXPECT_EQ(std::vector<std::string>(words.end() - 4, words.end()),
            (std::vector<std::string>{"--host", "worker1", "--port", "1999"}));
}

TEST(AgentPods, ShowTheirTasksVariablesToWhoHasNamesForThem) {
  const ManifestInput input = job_with_own_names();
  const Json environment = shown_pod_of(input)["spec"]["containers"].at(0).at("env");
  const auto names = names_of(environment);
  for (const char* name : {"TF_CONFIG", "WORKER_NUMBER", "TOT_WORKERS", "HF_TOKEN"}) {
    EXPECT_THAT(names, Contains(name));
  }
  // The agent says these of each run.
  EXPECT_EQ(std::ranges::count_if(
                names, [](const std::string& name) { return name.starts_with("GANGRUN_"); }),
            1);
  for (const Json& variable : environment) {
    if (variable.at("name") == "TF_CONFIG") {
      EXPECT_THAT(variable.at("value").get<std::string>(), HasSubstr("\"worker1:1999\""));
    }
    if (variable.at("name") != "HF_TOKEN") continue;
    EXPECT_EQ(variable.at("valueFrom").at("secretKeyRef").at("name"),
              "wine-20260131-120000-3fa1-secrets");
  }
  std::vector<std::string> secrets;
  for (const Json& object : Manifests::make(input).value().objects(test::wine_owner())) {
    if (object.at("kind") != "Secret") continue;
    secrets.push_back(object.at("metadata").at("name").get<std::string>());
  }
  EXPECT_EQ(secrets, (std::vector<std::string>{"wine-20260131-120000-3fa1-agent",
                                               "wine-20260131-120000-3fa1-secrets"}));
  EXPECT_TRUE(shown_variables(Manifests::make(job_with_agents()).value(), {"worker", 1}).empty());
}

TEST(AgentPods, AloneHaveTheLabelThatIsTheTasksOnly) {
  const ManifestInput input = job_with_own_names();
  EXPECT_EQ(shown_pod_of(input)["metadata"]["labels"]["attempt"], "a");
  const Json labels = relay_of(input)["metadata"]["labels"];
  EXPECT_FALSE(labels.contains("attempt"));
  EXPECT_FALSE(labels.contains("app"));
  EXPECT_EQ(labels["team"], "wine");
}

// A second container would wait for a client that asks nobody.
TEST(AgentPods, SendTheirOutputsThemselves) {
  ManifestInput input = job_with_agents();
  input.spec.outputs = {"model/"};
  const Json spec = pod_of(input)["spec"];
  EXPECT_EQ(spec.at("containers").size(), 1U);
  EXPECT_EQ(spec.at("containers").at(0).at("workingDir"), "/gangrun/work");
  EXPECT_THAT(names_of(spec.at("volumes")), Contains("gangrun-work"));
}

TEST(AgentPods, AreToldTheWayToTheMasterWhereItIsKnown) {
  ManifestInput input = job_with_agents();
  input.agents->master = job::Address{"10.0.0.7", 17400};
  const std::vector<std::string> words =
      pod_of(input)["spec"]["containers"].at(0).at("command").get<std::vector<std::string>>();
  EXPECT_EQ(words[words.size() - 2], "--master");
  EXPECT_EQ(words.back(), "10.0.0.7:17400");
  // Kubernetes would put a variable there.
  input.agents->master->host = "$(HOME)";
  EXPECT_EQ(pod_of(input)["spec"]["containers"].at(0)["command"].back(), "$$(HOME):17400");
}

TEST(AgentPods, HaveLargeFilesPutTogetherByAnAgentAndNoShell) {
  ManifestInput input = job_with_agents();
  input.files = {{"data/large", std::string(kMaxConfigMapBytes + 1, 'x'), false}};
  edit_kubernetes(input.spec).pod = Json::parse(
      R"({"spec": {"containers": [{"name": "task", "securityContext": {"runAsUser": 7}}]}})");
  const Json spec = pod_of(input).at("spec");
  ASSERT_EQ(names_of(spec.at("initContainers")), std::vector<std::string>{"gangrun-files"});
  const Json& joins = spec.at("initContainers").at(0);
  const auto words = joins.at("command").get<std::vector<std::string>>();
  EXPECT_EQ(words.front(), "/gangrun/agent/loader");
  const auto files = std::ranges::find(words, "files");
  ASSERT_NE(files, words.end());
  EXPECT_EQ(std::vector<std::string>(files + 1, words.end()),
            (std::vector<std::string>{"--to", "/gangrun/joined/0", "--mode", "0444",
                                      "/gangrun/parts/0/0-large.0", "/gangrun/parts/1/0-large.1"}));
  // It needs none of the secrets of the job.
  EXPECT_EQ(names_of(joins.at("volumeMounts")),
            (std::vector<std::string>{"gangrun-joined", "gangrun-files-0", "gangrun-files-1",
                                      "gangrun-agent", "gangrun-run"}));
  EXPECT_EQ(joins.at("securityContext").at("runAsUser"), 7);
  EXPECT_EQ(spec.at("containers").at(0).at("workingDir"), "/gangrun/work");
}

TEST(AgentPods, HaveNoSecretInThem) {
  const ManifestInput input = job_with_agents();
  const Manifests manifests = Manifests::make(input).value();
  for (const Json& pod : {pod_of(input), relay_of(input)}) {
    for (const char* secret : {"hunter2", "s3", "t0"}) {
      EXPECT_THAT(pod.dump(), Not(HasSubstr(secret)));
    }
  }
  int secrets = 0;
  for (const Json& object : manifests.objects(test::wine_owner())) {
    if (object.at("kind") != "Secret") {
      EXPECT_THAT(object.dump(), Not(HasSubstr("hunter2")));
      continue;
    }
    ++secrets;
    EXPECT_EQ(object.at("metadata").at("name"), "wine-20260131-120000-3fa1-agent");
    EXPECT_EQ(object.at("data").at("token"), "dDA=");
    EXPECT_EQ(object.at("data").at("agent.json"), "eyJzZWNyZXQiOiAiczMifQ==");
  }
  EXPECT_EQ(secrets, 1);
}

ManifestInput job_with_image() {
  ManifestInput input = job_with_agents();
  edit_kubernetes(input.spec).agents = AgentsBy::kImage;
  input.agents->source = by_image("hub/agent:1");
  return input;
}

TEST(AgentPods, AreGivenTheAgentByAContainerOfItsImage) {
  ManifestInput input = job_with_image();
  edit_kubernetes(input.spec).image_pull_policy = "Always";
  edit_kubernetes(input.spec).pod = Json::parse(R"({"spec": {"initContainers": [{"name": "first"}],
      "containers": [{"name": "tf", "securityContext": {"runAsUser": 7}}]}})");
  const Json spec = pod_of(input)["spec"];
  ASSERT_EQ(names_of(spec["initContainers"]), (std::vector<std::string>{"first", "gangrun-agent"}));
  const Json amounts = {{"cpu", "100m"}, {"memory", "64Mi"}};
  EXPECT_EQ(spec["initContainers"].at(1),
            (Json{{"name", "gangrun-agent"},
                  {"image", "hub/agent:1"},
                  {"command",
                   Json::array({"/gangrun-agent", "copy-to", "/gangrun/agent", GANGRUN_VERSION})},
                  {"volumeMounts",
                   Json::array({Json{{"name", "gangrun-agent"}, {"mountPath", "/gangrun/agent"}}})},
                  {"terminationMessagePolicy", "FallbackToLogsOnError"},
                  {"resources", {{"requests", amounts}, {"limits", amounts}}},
                  {"imagePullPolicy", "Always"},
                  {"securityContext", {{"runAsUser", 7}}}}));
  const Json task = spec["containers"].at(0);
  EXPECT_EQ(task["image"], "tf:2.15");
  EXPECT_EQ(task["command"].at(0), "/gangrun/agent/gangrun-agent");
  EXPECT_EQ(task["command"].at(1), "pod");
  EXPECT_THAT(task["volumeMounts"],
              Contains(Json{
                  {"name", "gangrun-agent"}, {"mountPath", "/gangrun/agent"}, {"readOnly", true}}));
  EXPECT_THAT(spec["volumes"],
              Contains(Json{{"name", "gangrun-agent"}, {"emptyDir", Json::object()}}));
}

TEST(AgentPods, TheRelayRunsInTheImageOfTheAgent) {
  const Json spec = relay_of(job_with_image())["spec"];
  EXPECT_FALSE(spec.contains("initContainers"));
  const Json container = spec.at("containers").at(0);
  EXPECT_EQ(container.at("name"), "relay");
  EXPECT_EQ(container.at("image"), "hub/agent:1");
  EXPECT_EQ(container.at("command").at(0), "/gangrun-agent");
  EXPECT_EQ(container.at("command").at(1), "relay");
}

TEST(AgentPods, TheRelayGoesWhereTheTasksMayAndHasNoRights) {
  ManifestInput input = job_with_agents();
  KubernetesOptions& options = edit_kubernetes(input.spec);
  options.node_selector = {{"zone", "a"}};
  options.service_account = "trainer";
  options.labels = {{"team", "wine"}};
  options.annotations = {{"note", "x"}};
  options.pod = Json::parse(R"({"spec": {
      "containers": [{"name": "task", "securityContext": {"runAsUser": 7},
                      "env": [{"name": "A", "value": "b"}]},
                     {"name": "beside", "image": "x"}],
      "initContainers": [{"name": "first", "image": "x"}],
      "volumes": [{"name": "data", "emptyDir": {}}]}})");
  const Json pod = relay_of(input);
  EXPECT_EQ(pod.at("metadata").at("name"), "wine-20260131-120000-3fa1-relay");
  EXPECT_FALSE(pod.at("metadata").at("labels").contains("gangrun/task"));
  EXPECT_EQ(pod.at("metadata").at("labels").at("team"), "wine");
  EXPECT_EQ(pod.at("metadata").at("annotations"), (Json{{"note", "x"}}));
  const Json& spec = pod.at("spec");
  EXPECT_EQ(spec.at("nodeSelector").at("zone"), "a");
  EXPECT_EQ(spec.at("automountServiceAccountToken"), false);
  EXPECT_FALSE(spec.contains("initContainers"));
  ASSERT_EQ(names_of(spec.at("containers")), std::vector<std::string>{"relay"});
  const Json& container = spec.at("containers").at(0);
  EXPECT_EQ(container.at("image"), "tf:2.15");
  EXPECT_EQ(container.at("securityContext").at("runAsUser"), 7);
  EXPECT_EQ(names_of(container.at("env")), std::vector<std::string>{"GANGRUN_POD_IP"});
  EXPECT_THAT(container.at("command").get<std::vector<std::string>>(), Contains("relay"));
  EXPECT_EQ(names_of(spec.at("volumes")),
            (std::vector<std::string>{"gangrun-agent", "gangrun-config", "gangrun-run"}));
}

Json relay_limits(const ManifestInput& input) {
  return relay_of(input)["spec"]["containers"].at(0)["resources"].value("limits", Json::object());
}

// A quota that asks for limits asks all containers. Ours were more than a namespace allowed whose
// tasks had none.
TEST(AgentPods, TheRelayHasTheKindsOfLimitsThatItsTasksHave) {
  ManifestInput input = job_with_agents();
  EXPECT_EQ(relay_limits(input), Json::object());
  input.spec.tasks.front().resources.memory_mib = 512;
  EXPECT_EQ(relay_limits(input), (Json{{"memory", "64Mi"}}));
  edit_kubernetes(input.spec).pod = Json::parse(
      R"({"spec": {"containers": [{"name": "task", "resources": {"limits": {"cpu": "2"}}}]}})");
  EXPECT_EQ(relay_limits(input), (Json{{"cpu", "1"}, {"memory", "64Mi"}}));
}

// A LimitRange is for all containers: what it grants the tasks it grants the relay.
TEST(AgentPods, TheRelayHasNoMoreThanATaskAndWhatIsSaidOfIt) {
  ManifestInput input = job_with_agents();
  input.spec.tasks.front().resources.memory_mib = 48;
  edit_kubernetes(input.spec).pod = Json::parse(
      R"({"spec": {"containers": [{"name": "task", "resources": {"limits": {"cpu": "200m"}}}]}})");
  EXPECT_EQ(relay_limits(input), (Json{{"cpu", "200m"}, {"memory", "48Mi"}}));
  // It needs what it asks for.
  input.spec.tasks.front().resources.memory_mib = 16;
  EXPECT_EQ(relay_limits(input), (Json{{"cpu", "200m"}, {"memory", "32Mi"}}));
  edit_kubernetes(input.spec).relay = {.memory_mib = 128, .vcores = 2};
  EXPECT_EQ(relay_of(input)["spec"]["containers"].at(0)["resources"],
            Json::parse(R"({"requests": {"cpu": "2", "memory": "128Mi"},
                            "limits": {"cpu": "2", "memory": "128Mi"}})"));
  // Nobody asked for limits.
  input.spec.tasks.front().resources.memory_mib = 0;
  edit_kubernetes(input.spec).pod = nullptr;
  EXPECT_EQ(relay_of(input)["spec"]["containers"].at(0)["resources"],
            Json::parse(R"({"requests": {"cpu": "2", "memory": "128Mi"}})"));
}

// A quota on storage asks it of every container. Without one a node need not know of it.
TEST(AgentPods, TheRelayAsksForStorageWhereItsTasksDo) {
  ManifestInput input = job_with_agents();
  const auto limits = [&input] { return relay_limits(input); };
  EXPECT_FALSE(limits().contains("ephemeral-storage"));
  input.spec.tasks.front().resources.others["ephemeral-storage"] = 1 << 30;
  EXPECT_EQ(limits().at("ephemeral-storage"), "256Mi");
  input.spec.tasks.front().resources.others.clear();
  edit_kubernetes(input.spec).pod = Json::parse(R"({"spec": {
      "resources": {"limits": {"memory": "9Gi"}},
      "containers": [{"name": "task", "resources": {"limits": {"ephemeral-storage": "1Gi"}}}]}})");
  EXPECT_EQ(limits().at("ephemeral-storage"), "256Mi");
  EXPECT_FALSE(relay_of(input).at("spec").contains("resources"));
}

}  // namespace
}  // namespace gangrun::kubernetes::pods
