#include "kubernetes/pods/where_pods_work.h"

#include <map>
#include <vector>

#include "base/format.h"
#include "base/json.h"
#include "base/strings.h"
#include "kubernetes/pods/gang_scheduling.h"
#include "kubernetes/pods/pod_template.h"

namespace gangrun::kubernetes::pods {

namespace {

// How many task types the sentence names.
constexpr std::size_t kMaxNamed = 3;

std::string folder_of(const Manifests& manifests, const job::TaskId& task) {
  const base::Json pod =
      manifests.pod(task, {1, 1, [] { return std::map<std::string, std::string>(); }}, {});
  const base::Json* container = find_container(pod, manifests.container_of(task));
  if (container == nullptr) return "the working folder of their image";
  return container->value("workingDir", "the working folder of their image");
}

}  // namespace

std::string where_pods_work(const Manifests& manifests) {
  std::map<std::string, std::vector<std::string>> types;  // by folder
  bool has_outputs = false;
  for (const job::TaskSpec& task : manifests.input().spec.tasks) {
    types[folder_of(manifests, {task.type, 0})].push_back(task.type);
    has_outputs = has_outputs || !manifests.outputs_of({task.type, 0}).empty();
  }
  std::vector<std::string> folders;
  for (const auto& [folder, names] : types) {
    folders.push_back(types.size() == 1 ? folder
                                        : base::format("{} ({})", folder,
                                                       base::first_and_more(names, kMaxNamed)));
  }
  return base::format("tasks work in pods, in {}: {}", base::first_and_more(folders, kMaxNamed),
                      has_outputs ? "what `outputs` names is brought, the rest goes with the pods "
                                    "where it is not on a volume"
                                  : "what they write goes with the pods where it is not on a "
                                    "volume or named in `outputs`");
}

std::string what_pods_lack() {
  return "a task without an agent has no GANGRUN_RESULT_FILE and no GANGRUN_FIGURES_FILE: it "
         "gives no result and no figures";
}

std::string_view what_agents_bring() {
  return "commands that begin together, restarts in the same pods, results, figures and `gangrun "
         "exec`";
}

std::string way_of_agents(const job::JobSpec& spec) {
  const KubernetesOptions& own = kubernetes_of(spec);
  const AgentsBy way = agents_by(spec);
  std::string why = base::format("kubernetes.agents: {}", to_string(way));
  if (!own.agents) why += ", by default";
  if (way == AgentsBy::kNone) return base::format("no agent runs beside the commands ({})", why);
  if (way == AgentsBy::kConfigMaps) {
    return base::format(
        "an agent runs beside each command, which config maps of the namespace bring ({})", why);
  }
  return base::format(
      "an agent runs beside each command, which a container of the image {} brings ({})",
      own.agent_image, own.agents ? why : "kubernetes.agent_image is given");
}

std::string how_agents_come(const Manifests& manifests, bool is_detached) {
  const job::JobSpec& spec = manifests.input().spec;
  const std::string way = way_of_agents(spec);
  const auto& agents = manifests.input().agents;
  if (!agents) return way;
  const AgentSource& source = agents->source;
  return base::format(
      "{}{}. {}", way, source.needs,
      is_detached ? base::format("One more pod leads the job, with the service account '{}'",
                                 kubernetes_of(spec).master.service_account)
                  : source.relay_words);
}

std::string when_pods_begin(const Manifests& manifests) {
  const bool is_held = manifests.input().gang_scheduling == GangScheduling::kHold;
  if (!is_held || gang_of(manifests.input().spec).size() < 2) return {};
  return base::format(
      "gang_scheduling `hold`, where the cluster has nothing better: a command runs as soon as its "
      "pod has a node. If another pod gets none for {} (timeouts.hold), all are ended and start "
      "again: what they have done until then stays done",
      base::to_words(manifests.input().spec.timeouts.hold));
}

}  // namespace gangrun::kubernetes::pods
