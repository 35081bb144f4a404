#include "kubernetes/pods/agent_pods.h"

#include <utility>
#include <vector>

#include "base/format.h"
#include "kubernetes/link_frames.h"
#include "kubernetes/pods/journal_volume.h"
#include "kubernetes/pods/manifests.h"
#include "kubernetes/pods/master_names.h"
#include "kubernetes/pods/names.h"
#include "net/digests.h"

namespace gangrun::kubernetes::pods {

namespace {

using base::Json;

constexpr const char* kConfigVolume = "gangrun-config";
constexpr const char* kConfigFolder = "/gangrun/config";
constexpr const char* kConfigKey = "agent.json";
constexpr const char* kTokenKey = "token";
constexpr const char* kRunVolume = "gangrun-run";
constexpr const char* kRunFolder = "/gangrun/run";
constexpr const char* kProgram = "gangrun-agent";
// As tools/packing/image.py puts it.
constexpr const char* kProgramOfImage = "/gangrun-agent";
constexpr const char* kCopyContainer = "gangrun-agent";
constexpr const char* kTerminationMessages = "FallbackToLogsOnError";
// Containers run as any user, and only those of the job's pods have the volume.
constexpr int kReadableByAll = 0444;

std::string in_config(const char* key) { return base::format("{}/{}", kConfigFolder, key); }

Json run_volume() { return {{"name", kRunVolume}, {"emptyDir", Json::object()}}; }

Json run_mount() { return {{"name", kRunVolume}, {"mountPath", kRunFolder}}; }

Json mounts() {
  return Json::array({AgentParts::mount(),
                      {{"name", kConfigVolume}, {"mountPath", kConfigFolder}, {"readOnly", true}},
                      run_mount()});
}

Json own_variable(const char* name, const char* field) {
  return {{"name", name}, {"valueFrom", {{"fieldRef", {{"fieldPath", field}}}}}};
}

// A process knows no other way to its pod's address.
Json address_variable() { return own_variable(kPodAddressVariable, "status.podIP"); }

Json with_arguments(Json container, const std::vector<std::string>& arguments) {
  for (const std::string& each : arguments) {
    container["command"].push_back(without_references(each));
  }
  return container;
}

Json secret_volume(const std::string& secret) {
  return {{"name", kConfigVolume},
          {"secret", {{"secretName", secret}, {"defaultMode", kReadableByAll}}}};
}

std::string secret_name_of(const ManifestInput& input, const AgentPods& agents) {
  std::string name = agent_secret_name(input);
  if (agents.master_number > 0) name += base::format("-{}", agents.master_number);
  return name;
}

Json with_agent(const Json& begin, const std::vector<std::string>& arguments) {
  Json container = with_arguments(begin, arguments);
  container["env"] = Json::array({address_variable()});
  container["volumeMounts"] = mounts();
  // How an agent that never had a master has ended.
  container["terminationMessagePolicy"] = kTerminationMessages;
  return container;
}

}  // namespace

AgentSource by_config_maps(AgentParts parts) {
  auto maps = std::make_shared<const AgentParts>(std::move(parts));
  const Json begin = {{"command", maps->command(kRunFolder, kProgram)}};
  return {.volume = maps->volume(),
          .task = begin,
          .relay = begin,
          .maps = maps,
          .architecture = std::string(maps->architecture()),
          .needs = base::format(
              ": gangrun-{}-*, {} of at most 1 MiB, which all jobs with this version share and "
              "which go with the last of them",
              maps->digest(), maps->map_count()),
          .relay_words = "One more pod relays to this client"};
}

AgentSource by_image(const std::string& image) {
  // Its limits are its requests: a pod whose other containers have it so stays of the class
  // Guaranteed.
  const Json amounts = {{"cpu", "100m"}, {"memory", "64Mi"}};
  const Json copier = {
      {"name", kCopyContainer},
      {"image", image},
      {"command", Json::array({kProgramOfImage, "copy-to", kAgentFolder, GANGRUN_VERSION})},
      {"volumeMounts", Json::array({Json{{"name", kAgentVolume}, {"mountPath", kAgentFolder}}})},
      // It says that it is of another version.
      {"terminationMessagePolicy", kTerminationMessages},
      {"resources", {{"requests", amounts}, {"limits", amounts}}}};
  return {.volume = {{"name", kAgentVolume}, {"emptyDir", Json::object()}},
          .task = {{"command", Json::array({base::format("{}/{}", kAgentFolder, kProgram)})}},
          .relay = {{"image", image}, {"command", Json::array({kProgramOfImage})}},
          .copier = copier,
          .needs = "; it has to be of this version",
          .relay_words = "One more pod, of that image, relays to this client"};
}

Json agent_secret(const ManifestInput& input, const AgentPods& agents, const Owner& owner) {
  Json secret = object_of(input, "v1", "Secret", secret_name_of(input, agents), owner);
  secret["type"] = "Opaque";
  secret["immutable"] = true;
  secret["data"] = {{kConfigKey, net::to_base64(agents.config.reveal())},
                    {kTokenKey, net::to_base64(agents.token.reveal())}};
  return secret;
}

Json joining_container(const AgentPods& agents, const std::vector<JoinedFile>& files, Json mounts) {
  std::vector<std::string> arguments = to_words(files);
  arguments.insert(arguments.begin(), std::string(kFilesCommand));
  mounts.push_back(AgentParts::mount());
  mounts.push_back(run_mount());
  Json container = with_arguments(agents.source.task, arguments);
  container["volumeMounts"] = std::move(mounts);
  return container;
}

Json agent_container(const AgentPods& agents, const job::TaskId& task, int attempt,
                     const AgentReach& reach) {
  std::vector<std::string> arguments = {"pod",
                                        "--task",
                                        job::to_string(task),
                                        "--attempt",
                                        base::format("{}", attempt),
                                        "--config",
                                        in_config(kConfigKey),
                                        "--folder",
                                        kRunFolder,
                                        "--hint-port",
                                        base::format("{}", base::join(reach.hint_ports, ","))};
  if (agents.master) {
    arguments.emplace_back("--master");
    arguments.push_back(job::to_string(*agents.master));
  }
  if (const auto& own = reach.own) {
    arguments.insert(arguments.end(),
                     {"--host", own->host, "--port", base::format("{}", own->port)});
  }
  return with_agent(agents.source.task, arguments);
}

Json relay_container(const AgentPods& agents) {
  return with_agent(agents.source.relay,
                    {"relay", "--port", base::format("{}", kRelayPort), "--client-port",
                     base::format("{}", kRelayClientPort), "--token-file", in_config(kTokenKey)});
}

Json agent_volumes(const ManifestInput& input, const AgentPods& agents) {
  return Json::array(
      {agents.source.volume, secret_volume(secret_name_of(input, agents)), run_volume()});
}

Json master_container(const ManifestInput& input, const AgentPods& agents) {
  Json container = with_agent(agents.source.relay, {"pod-master", "--config", kMasterConfigFolder,
                                                    "--run", kMasterRunFolder});
  container["env"].push_back(own_variable(kPodNameVariable, "metadata.name"));
  container["env"].push_back(own_variable(kPodUidVariable, "metadata.uid"));
  container["volumeMounts"] = Json::array(
      {AgentParts::mount(),
       {{"name", kConfigVolume}, {"mountPath", kMasterConfigFolder}, {"readOnly", true}},
       run_mount()});
  if (has_journal_volume(input.spec)) {
    container["volumeMounts"].push_back(journal_mount(input.spec));
  }
  return container;
}

Json master_volumes(const ManifestInput& input, const AgentPods& agents) {
  Json volumes =
      Json::array({agents.source.volume, secret_volume(master_secret_name(input)), run_volume()});
  if (has_journal_volume(input.spec)) volumes.push_back(journal_volume(input.spec));
  return volumes;
}

}  // namespace gangrun::kubernetes::pods
