#include "kubernetes/pods/agent_pods.h"

#include <string_view>
#include <utility>
#include <vector>

#include "base/format.h"
#include "kubernetes/link_frames.h"
#include "kubernetes/pods/manifests.h"
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
constexpr std::string_view kProgram = "gangrun-agent";
// As tools/packing/image.py puts it.
constexpr const char* kProgramOfImage = "/gangrun-agent";
constexpr const char* kTerminationMessages = "FallbackToLogsOnError";
// Containers run as any user, and only those of the job's pods have the volume.
constexpr int kReadableByAll = 0444;

std::string in_config(const char* key) { return base::format("{}/{}", kConfigFolder, key); }

Json run_mount() { return {{"name", kRunVolume}, {"mountPath", kRunFolder}}; }

Json mounts() {
  return Json::array({AgentParts::mount(),
                      {{"name", kConfigVolume}, {"mountPath", kConfigFolder}, {"readOnly", true}},
                      run_mount()});
}

// A process knows no other way to its pod's address.
Json address_variable() {
  return {{"name", kPodAddressVariable},
          {"valueFrom", {{"fieldRef", {{"fieldPath", "status.podIP"}}}}}};
}

Json command(const AgentPods& agents, const std::vector<std::string>& arguments) {
  if (agents.parts) return agents.parts->command(kRunFolder, std::string(kProgram), arguments);
  Json words = Json::array({base::format("{}/{}", kAgentFolder, kProgram)});
  for (const std::string& argument : arguments) words.push_back(without_references(argument));
  return words;
}

Json container(const AgentPods& agents, const std::vector<std::string>& arguments) {
  return {{"command", command(agents, arguments)},
          {"env", Json::array({address_variable()})},
          {"volumeMounts", mounts()},
          // How an agent that never had a master has ended.
          {"terminationMessagePolicy", kTerminationMessages}};
}

}  // namespace

Json agent_secret(const ManifestInput& input, const AgentPods& agents, const Owner& owner) {
  Json secret = object_of(input, "v1", "Secret", agent_secret_name(input), owner);
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
  return {{"command", command(agents, arguments)}, {"volumeMounts", std::move(mounts)}};
}

Json agent_container(const AgentPods& agents, const job::TaskId& task, int attempt) {
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
                                        base::format("{}", kHintPort)};
  if (agents.master) {
    arguments.emplace_back("--master");
    arguments.push_back(job::to_string(*agents.master));
  }
  return container(agents, arguments);
}

Json copy_container(const AgentPods& agents) {
  return {
      {"image", agents.image},
      {"command", Json::array({kProgramOfImage, "copy-to", kAgentFolder, GANGRUN_VERSION})},
      {"volumeMounts", Json::array({Json{{"name", kAgentVolume}, {"mountPath", kAgentFolder}}})},
      // It says that it is of another version.
      {"terminationMessagePolicy", kTerminationMessages}};
}

Json relay_container(const AgentPods& agents) {
  Json relay = container(
      agents, {"relay", "--port", base::format("{}", kRelayPort), "--client-port",
               base::format("{}", kRelayClientPort), "--token-file", in_config(kTokenKey)});
  if (agents.parts) return relay;
  relay["image"] = agents.image;
  relay["command"][0] = kProgramOfImage;
  return relay;
}

Json agent_volumes(const ManifestInput& input, const AgentPods& agents) {
  const Json copied = {{"name", kAgentVolume}, {"emptyDir", Json::object()}};
  return Json::array(
      {agents.parts ? agents.parts->volume() : copied,
       {{"name", kConfigVolume},
        {"secret", {{"secretName", agent_secret_name(input)}, {"defaultMode", kReadableByAll}}}},
       {{"name", kRunVolume}, {"emptyDir", Json::object()}}});
}

}  // namespace gangrun::kubernetes::pods
