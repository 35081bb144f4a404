#include "kubernetes/pods/kubernetes_rules.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "base/format.h"
#include "base/letters.h"
#include "base/strings.h"
#include "job/choice.h"
#include "job/units.h"
#include "jobfile/container.h"
#include "jobfile/plan_json.h"
#include "jobfile/shipped_files.h"
#include "kubernetes/pods/journal_volume.h"
#include "kubernetes/pods/kubernetes_options.h"
#include "kubernetes/pods/names.h"

namespace gangrun::kubernetes::pods {

namespace {

using base::Json;
using jobfile::check_bytes;
using jobfile::check_text;
using Found = jobfile::Found;
using job::in_quotes;
using JobSpec = job::JobSpec;
using job::not_one_of;
using Problem = jobfile::Problem;
using TaskSpec = job::TaskSpec;
using TextsByKey = std::map<std::string, std::string>;

constexpr std::size_t kMaxObjectNameBytes = 253;
constexpr std::size_t kMaxAnnotationBytes = std::size_t{256} * 1024;  // of all together

bool is_host_part(std::string_view text) {
  return !text.empty() && base::is_small_letter_or_digit(text.front()) &&
         base::is_small_letter_or_digit(text.back()) &&
         std::all_of(text.begin(), text.end(),
                     [](char c) { return base::is_small_letter_or_digit(c) || c == '-'; });
}

bool is_object_name(std::string_view text) {
  const std::vector<std::string> parts = base::split(text, '.');
  return text.size() <= kMaxObjectNameBytes &&
         std::all_of(parts.begin(), parts.end(),
                     [](const std::string& part) { return is_host_part(part); });
}

bool is_key(std::string_view text) {
  const std::size_t slash = text.find('/');
  if (slash != std::string_view::npos && !is_object_name(text.substr(0, slash))) return false;
  const std::string_view word = text.substr(slash + 1);  // all of it without a '/'
  return !word.empty() && is_label_value(word);
}

Found check_object_name(const std::string& name, std::string_view what, const std::string& path) {
  if (name.empty() || is_object_name(name)) return std::nullopt;
  return Problem{path, base::format("{} is not the name of {}; allowed: small letters, digits, and "
                                    "'-' or '.' between them, at most {} characters",
                                    in_quotes(name), what, kMaxObjectNameBytes)};
}

Found check_key(const std::string& key, const std::string& path) {
  if (!is_key(key)) {
    return Problem{path, base::format("{} is not a key; allowed: letters, digits, and '-', '_' or "
                                      "'.' between them, at most {} characters, after DOMAIN/ or "
                                      "nothing",
                                      in_quotes(key), kMaxLabelBytes)};
  }
  if (!key.starts_with("gangrun/")) return std::nullopt;
  return Problem{path, base::format("{} is one of gangrun's own; allowed: keys that do not begin "
                                    "with gangrun/",
                                    in_quotes(key))};
}

Found check_one_of(const std::string& word, std::string_view what,
                   const std::vector<std::string>& known, const std::string& path) {
  if (std::ranges::find(known, word) != known.end()) return std::nullopt;
  return Problem{path, not_one_of(word, what, known).message};
}

Found check_own_labels(const TextsByKey& labels, const std::string& path) {
  for (const auto& [key, value] : labels) {
    const std::string own_path = base::format("{}.{}", path, key);
    if (auto found = check_key(key, own_path)) return found;
    if (is_label_value(value)) continue;
    return Problem{own_path, base::format("{} is not the value of a label; allowed: letters, "
                                          "digits, and '-', '_' or '.' between them, at most {} "
                                          "characters",
                                          in_quotes(value), kMaxLabelBytes)};
  }
  return std::nullopt;
}

Found check_own_annotations(const TextsByKey& annotations) {
  const std::string path = "kubernetes.annotations";
  std::size_t bytes = 0;
  for (const auto& [key, value] : annotations) {
    const std::string own_path = base::format("{}.{}", path, key);
    if (auto found = check_key(key, own_path)) return found;
    if (auto found = check_text(value, own_path)) return found;
    bytes += key.size() + value.size();
  }
  if (bytes <= kMaxAnnotationBytes) return std::nullopt;
  return Problem{path, base::format("{} bytes are more than the limit of {} for all together",
                                    bytes, kMaxAnnotationBytes)};
}

// Checks that each is a map with these members, which are texts.
Found check_maps(const std::vector<Json>& maps, const std::vector<const char*>& needed,
                 const std::string& path) {
  for (std::size_t i = 0; i < maps.size(); ++i) {
    const std::string own_path = base::format("{}.{}", path, i);
    if (!maps[i].is_object())
      return Problem{own_path, "is not a map; allowed: one as a pod has it"};
    for (const char* key : needed) {
      const auto found = maps[i].find(key);
      const bool fits = found != maps[i].end() && found->is_string() &&
                        !found->get_ref<const std::string&>().empty();
      if (fits) continue;
      return Problem{own_path, base::format("has no {}, a text, which it needs", key)};
    }
  }
  return std::nullopt;
}

Found check_tolerations(const std::vector<Json>& tolerations) {
  const std::vector<std::string> known = {"key", "operator", "value", "effect",
                                          "tolerationSeconds"};
  if (auto found = check_maps(tolerations, {}, "kubernetes.tolerations")) return found;
  for (std::size_t i = 0; i < tolerations.size(); ++i) {
    const std::string path = base::format("kubernetes.tolerations.{}", i);
    for (const auto& [key, value] : tolerations[i].items()) {
      if (auto found = check_one_of(key, "a key of a toleration", known, path)) return found;
    }
  }
  return std::nullopt;
}

Found check_volumes(const KubernetesOptions& kubernetes) {
  const std::string path = "kubernetes.volumes";
  if (auto found = check_maps(kubernetes.volumes, {"name"}, path)) return found;
  std::set<std::string> names;
  for (std::size_t i = 0; i < kubernetes.volumes.size(); ++i) {
    const std::string own_path = base::format("{}.{}", path, i);
    const auto name = kubernetes.volumes[i]["name"].get<std::string>();
    if (!is_dns_label(name)) {
      return Problem{own_path, base::format("{} is not the name of a volume; allowed: small "
                                            "letters, digits, and '-' between them, at most {}",
                                            in_quotes(name), kMaxLabelBytes)};
    }
    if (!names.insert(name).second) {
      return Problem{own_path, base::format("{} is given twice", in_quotes(name))};
    }
  }
  return check_maps(kubernetes.volume_mounts, {"name", "mountPath"}, "kubernetes.volume_mounts");
}

Found check_master(const KubernetesOptions& kubernetes) {
  return check_object_name(kubernetes.master.service_account, "a service account",
                           "kubernetes.master.service_account");
}

Found check_image_pulls(const KubernetesOptions& kubernetes) {
  for (std::size_t i = 0; i < kubernetes.image_pull_secrets.size(); ++i) {
    const std::string& name = kubernetes.image_pull_secrets[i];
    const std::string path = base::format("kubernetes.image_pull_secrets.{}", i);
    if (name.empty()) return Problem{path, "is empty; allowed: the name of a secret"};
    if (auto found = check_object_name(name, "a secret", path)) return found;
  }
  if (const std::string& policy = kubernetes.image_pull_policy; !policy.empty()) {
    auto found = check_one_of(policy, "when images are pulled", {"Always", "IfNotPresent", "Never"},
                              "kubernetes.image_pull_policy");
    if (found) return found;
  }
  return jobfile::check_image(kubernetes.helper_image, "kubernetes.helper_image");
}

Problem not_there(const std::string& path, std::string_view value, std::string_view instead) {
  return {path,
          base::format("{} is not allowed with `on: kubernetes`; {}", in_quotes(value), instead)};
}

constexpr std::string_view kOneProcess =
    "without agents a task is one process; allowed: 1, and more instances, or";
constexpr std::string_view kWholeGang =
    "without agents a gang of pods is always whole; allowed: `restarts`, which brings back what "
    "was lost, or";
constexpr std::string_view kOwnVolumes = "allowed: `volumes` and `volume_mounts` of `kubernetes`";
constexpr std::string_view kPodsAddress = "a pod has an address of its own";

constexpr std::string_view kByAgents = "agents (no `agents: none` of `kubernetes`)";

Problem not_without_agents(const std::string& path, std::string_view value,
                           std::string_view instead) {
  return not_there(path, value, base::format("{} {}", instead, kByAgents));
}

Found check_pod_resources(const TaskSpec& task, const std::string& path) {
  std::set<std::string> names;
  for (const auto& [name, amount] : task.resources.others) names.insert(name);
  for (const auto& [index, own] : task.overrides) {
    for (const auto& [name, amount] : own.others) names.insert(name);
  }
  for (const std::string& name : names) {
    const bool is_known = name.find('/') != std::string::npos || name == "ephemeral-storage" ||
                          name.starts_with("hugepages-");
    if (is_known) continue;
    return not_there(path + ".resources", name,
                     "allowed: DOMAIN/NAME, ephemeral-storage, hugepages-SIZE");
  }
  return std::nullopt;
}

Found check_pod_of_task(const JobSpec& job, const TaskSpec& task) {
  const std::string path = "tasks." + task.type;
  if (job.image_of(task).empty()) {
    return Problem{path + ".image",
                   base::format("{} has no image, and with `on: kubernetes` every task runs in "
                                "one; set it by --image, or as `image` in the job file",
                                task.type)};
  }
  if (task.processes > 1 && !has_agents(job)) {
    return not_without_agents(path + ".processes", std::to_string(task.processes), kOneProcess);
  }
  if (!has_agents(job) && task.ports.hold != job::Hold::kUntilBind) {
    return not_without_agents(path + ".ports.hold", job::to_string(task.ports.hold),
                              "without agents nobody holds a pod's ports; allowed: until-bind, or");
  }
  return check_pod_resources(task, path);
}

// Pods are called JOB-TYPE-INDEX, the job by its id.
Found check_pod_name(const JobSpec& job, const TaskSpec& task) {
  const std::string index = std::to_string(task.instances - 1);
  const std::size_t name = kubernetes_name(job.name).size();
  const std::size_t rest = kIdTagBytes + 2 + index.size();
  if (name + rest + task.type.size() <= kMaxLabelBytes) return std::nullopt;
  const std::string sum = base::format(
      "the pod of {}:{} would have a name of {} characters, of which Kubernetes allows {}",
      task.type, index, name + rest + task.type.size(), kMaxLabelBytes);
  // The length of what is put in front of a digit.
  const std::size_t prefix = name - job.name.size();
  if (rest + task.type.size() + prefix + 1 > kMaxLabelBytes) {
    return Problem{"tasks." + task.type, base::format("{}; allowed: a task type of at most {}", sum,
                                                      kMaxLabelBytes - rest - prefix - 1)};
  }
  return Problem{"name",
                 base::format("'{}' is too long: {}; allowed: at most {}, or a shorter "
                              "task type",
                              job.name, sum, kMaxLabelBytes - rest - task.type.size() - prefix)};
}

// A gang of pods without agents is whole.
Found check_features_of_agents(const JobSpec& job) {
  using jobfile::Feature;
  if (has_agents(job)) return std::nullopt;
  for (const Feature feature : {Feature::kSpares, Feature::kSmallerGangs}) {
    const auto asked = jobfile::find_asked(job, feature);
    if (asked) return not_without_agents(asked->path, asked->value, kWholeGang);
  }
  return std::nullopt;
}

Found check_names_of_pods(const JobSpec& job) {
  std::map<std::string, std::string> types;
  for (const TaskSpec& task : job.tasks) {
    const std::string type = kubernetes_name(task.type);
    const auto [other, is_free] = types.emplace(type, task.type);
    if (!is_free) {
      return Problem{"tasks." + task.type,
                     base::format("'{}' and '{}' would both be called {} on Kubernetes; allowed: "
                                  "task types that differ in more than case, '_' and '-'",
                                  other->second, task.type, type)};
    }
    if (auto found = check_pod_name(job, task)) return found;
  }
  return std::nullopt;
}

Found check_whole_job(const JobSpec& job) {
  const bool without_agents = !has_agents(job);
  const std::string mount = job.mounts.empty() ? "" : jobfile::to_string(job.mounts.front());
  const std::tuple<bool, const char*, std::string_view, std::string_view> refused[] = {
      {!job.interface.empty(), "interface", job.interface, kPodsAddress},
      {!job.mounts.empty(), "mounts", mount, kOwnVolumes},
      {job.containment != job::Containment::kAuto, "containment", job::to_string(job.containment),
       "a pod ends with all that is in it; allowed: auto"},
      {without_agents && job.stop_signal != job::StopSignal::kTerm, "stop_signal",
       job::to_string(job.stop_signal),
       "a pod's own is lifecycle.stopSignal, or STOPSIGNAL of its image; allowed: TERM"},
      {without_agents && job.stop_signal_to != job::StopSignalTo::kProcess, "stop_signal_to",
       job::to_string(job.stop_signal_to),
       "a container's first process gets it; allowed: process"}};
  for (const auto& [is_refused, path, value, instead] : refused) {
    if (is_refused) return not_there(path, value, instead);
  }
  if (job.zookeeper && without_agents) {
    return Problem{"zookeeper",
                   base::format("is not allowed with `on: kubernetes`, where no agent reports; "
                                "allowed: the names that the cluster's DNS has, or {}",
                                kByAgents)};
  }
  if (without_agents && job.frameworks &&
      std::ranges::find(*job.frameworks, job::Framework::kHorovod) != job.frameworks->end()) {
    return not_without_agents(
        "framework", to_string(job::Framework::kHorovod),
        "its processes find each other by an agent; allowed: another one, or");
  }
  for (std::size_t i = 0; i < job.files.size(); ++i) {
    if (!jobfile::has_scheme(job.files[i])) continue;
    return not_there(base::format("files.{}", i), job.files[i],
                     "allowed: paths of this machine; a URL is read by the task itself");
  }
  return std::nullopt;
}

Found check_pod_part(const Json& pod, const std::string& path) {
  if (pod.is_null()) return std::nullopt;
  const std::vector<std::string> known = {"apiVersion", "kind", "metadata", "spec"};
  if (!pod.is_object()) return Problem{path, "is not a map; allowed: a pod, or a part of one"};
  for (const auto& [key, value] : pod.items()) {
    if (auto found = check_one_of(key, "a key of a pod", known, path)) return found;
    const bool is_map = key == "metadata" || key == "spec";
    if (is_map && !value.is_object()) {
      return Problem{base::format("{}.{}", path, key),
                     base::format("{} is not allowed; allowed: a map, as a pod has it",
                                  in_quotes(base::dump_json(value)))};
    }
    const char* only = key == "kind" ? "Pod" : "v1";
    if (!is_map && value != Json(only)) {
      return Problem{base::format("{}.{}", path, key),
                     base::format("{} is not that of a pod; allowed: {}",
                                  in_quotes(base::dump_json(value)), only)};
    }
  }
  return std::nullopt;
}

Found check_agents(const KubernetesOptions& kubernetes) {
  if (kubernetes.agents == AgentsBy::kImage && kubernetes.agent_image.empty()) {
    return Problem{"kubernetes.agents",
                   "'image' needs `agent_image` of `kubernetes`, the image that brings the agent; "
                   "allowed: that too, or config_maps, none"};
  }
  return jobfile::check_image(kubernetes.agent_image, "kubernetes.agent_image");
}

Found check_kubernetes_options(const KubernetesOptions& kubernetes) {
  if (auto found = check_bytes(kubernetes.kubeconfig, "kubernetes.kubeconfig")) return found;
  if (auto found = check_text(kubernetes.context, "kubernetes.context")) return found;
  if (!kubernetes.name_space.empty() && !is_dns_label(kubernetes.name_space)) {
    return Problem{"kubernetes.namespace",
                   base::format("{} is not the name of a namespace; allowed: small letters, "
                                "digits, and '-' between them, at most {} characters",
                                in_quotes(kubernetes.name_space), kMaxLabelBytes)};
  }
  if (auto found = check_object_name(kubernetes.service_account, "a service account",
                                     "kubernetes.service_account")) {
    return found;
  }
  if (auto found = check_own_labels(kubernetes.labels, "kubernetes.labels")) return found;
  if (auto found = check_own_annotations(kubernetes.annotations)) return found;
  if (auto found = check_own_labels(kubernetes.node_selector, "kubernetes.node_selector"))
    return found;
  if (auto found = check_tolerations(kubernetes.tolerations)) return found;
  if (auto found = check_volumes(kubernetes)) return found;
  if (auto found = check_master(kubernetes)) return found;
  if (auto found = check_object_name(kubernetes.journal.claim, "a persistent volume claim",
                                     "kubernetes.journal.claim")) {
    return found;
  }
  if (auto found = check_journal(kubernetes)) return found;
  if (auto found = check_image_pulls(kubernetes)) return found;
  if (auto found = check_object_name(kubernetes.priority_class, "a priority class",
                                     "kubernetes.priority_class")) {
    return found;
  }
  if (auto found = check_object_name(kubernetes.queue, "a queue", "kubernetes.queue")) return found;
  if (auto found = check_agents(kubernetes)) return found;
  return check_pod_part(kubernetes.pod, "kubernetes.pod");
}

// Kubernetes refuses a request over the limit.
Found check_vcores_limit(const JobSpec& job) {
  const int limit = kubernetes_of(job).vcores_limit;
  for (const TaskSpec& task : job.tasks) {
    for (int index = 0; limit > 0 && index < task.instances; ++index) {
      const int vcores = task.resources_of(index).vcores;
      if (vcores <= limit) continue;
      return Problem{"kubernetes.vcores_limit",
                     base::format("{} is less than tasks.{}.vcores: {}; allowed: that or more, or "
                                  "0 for no limit",
                                  limit, task.type, vcores)};
    }
  }
  return std::nullopt;
}

Found check_options_of_pods(const JobSpec& job) {
  if (auto found = check_kubernetes_options(kubernetes_of(job))) return found;
  if (auto found = check_vcores_limit(job)) return found;
  for (const TaskSpec& task : job.tasks) {
    if (auto found = check_pod_part(task.pod, base::format("tasks.{}.pod", task.type)))
      return found;
  }
  return std::nullopt;
}

// All that is sent to the API server. Files are read here; their names are checked when they are.
Found check_text_on_kubernetes(const JobSpec& job) {
  JobSpec sent = job;
  sent.files.clear();
  edit_kubernetes(sent).kubeconfig.clear();
  return jobfile::find_no_text(jobfile::to_json(sent), "", "and Kubernetes takes nothing else");
}

Found check_on_kubernetes(const JobSpec& job) {
  if (auto found = check_text_on_kubernetes(job)) return found;
  if (auto found = check_whole_job(job)) return found;
  if (auto found = check_features_of_agents(job)) return found;
  for (const TaskSpec& task : job.tasks) {
    if (auto found = check_pod_of_task(job, task)) return found;
  }
  return check_names_of_pods(job);
}

}  // namespace

std::string kubernetes_name(std::string_view name) {
  const bool begins_with_digit = !name.empty() && base::is_digit(name.front());
  std::string own = begins_with_digit ? "job-" : "";
  for (const char c : name) {
    own += c == '_' || c == '.' ? '-' : base::small_letter(c);
  }
  return own;
}

jobfile::PlaceRules kubernetes_rules() {
  using jobfile::Feature;
  return {.name = std::string(kKubernetes),
          .other_name = "k8s",
          .words = "the Kubernetes cluster of the kubeconfig (also: k8s)",
          .reference = "[`kubernetes`](#kubernetes) (also `k8s`)",
          .features = {Feature::kRestarts, Feature::kFiles, Feature::kImages, Feature::kGpus,
                       Feature::kOtherResources, Feature::kPods, Feature::kOnePerNode,
                       Feature::kOutputs, Feature::kSpares, Feature::kSmallerGangs},
          .passed_over = {Feature::kClusterFiles},
          .refusals = {{Feature::kArchives, kOwnVolumes},
                       {Feature::kLabels,
                        "allowed: `node_selector` of `kubernetes`, or of the `pod` of these tasks"},
                       {Feature::kHosts, "allowed: `node_selector` of `kubernetes`"}},
          .section = &KubernetesOptions::section(),
          .brings_files = true,
          .queue = [](JobSpec& job) -> std::string& { return edit_kubernetes(job).queue; },
          .check_options = check_options_of_pods,
          .check = check_on_kubernetes};
}

}  // namespace gangrun::kubernetes::pods
