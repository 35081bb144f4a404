#include <algorithm>
#include <chrono>
#include <utility>

#include "base/check.h"
#include "base/format.h"
#include "frameworks/environment.h"
#include "kubernetes/pods/agent_files.h"
#include "kubernetes/pods/amounts.h"
#include "kubernetes/pods/architecture.h"
#include "kubernetes/pods/gang_scheduling.h"
#include "kubernetes/pods/hint_ports.h"
#include "kubernetes/pods/kubernetes_options.h"
#include "kubernetes/pods/manifests.h"
#include "kubernetes/pods/master_names.h"
#include "kubernetes/pods/names.h"
#include "kubernetes/pods/pod_template.h"
#include "kubernetes/pods/secrets.h"

namespace gangrun::kubernetes::pods {
namespace {

using base::Json;

constexpr const char* kWorkVolume = "gangrun-work";
constexpr const char* kNoticeVolume = "gangrun-notice";
constexpr const char* kSharedMemoryVolume = "gangrun-shm";
constexpr std::string_view kSharedMemoryFolder = "/dev/shm";
constexpr const char* kStorage = "ephemeral-storage";
constexpr const char* kHelperStorage = "256Mi";
// The longest time of a job that has no limit of its own; a pod cannot be without one.
constexpr std::chrono::seconds kLongestJob = std::chrono::hours(7 * 24);

// The input for the parts of a pod.
struct Part {
  const ManifestInput& input;
  const std::vector<SharedHosts>& hosts;
  const job::TaskSpec& task_spec;
  const job::TaskId& task;
  const Json& from;       // the merged template
  const Json& container;  // in it, the task's; an empty mapping where there is none

  [[nodiscard]] const KubernetesOptions& options() const { return kubernetes_of(input.spec); }
  [[nodiscard]] std::vector<std::string> outputs() const {
    return input.spec.outputs_of(task_spec).value_or(std::vector<std::string>());
  }
  [[nodiscard]] bool has_working_folder() const {
    return input.fetched || !outputs().empty() ||
           std::ranges::any_of(input.files,
                               [](const CarriedFile& file) { return !file.path.starts_with('/'); });
  }
};

bool says(const Json& container, const char* kind, const char* resource) {
  const Json resources = container.value("resources", Json::object());
  return resources.contains(kind) && resources.at(kind).is_object() &&
         resources.at(kind).contains(resource);
}

std::string mebibytes(std::int64_t mib) { return base::format("{}Mi", mib); }

Json resources_of(const Part& part) {
  const job::Resources resources = part.task_spec.resources_of(part.task.index);
  Json requests = Json::object();
  Json limits = Json::object();
  // One is what a job has that does not ask: there the template's word stands.
  const bool is_in_template =
      says(part.container, "requests", "cpu") || says(part.container, "limits", "cpu");
  if (resources.vcores > (is_in_template ? 1 : 0)) {
    requests["cpu"] = base::format("{}", resources.vcores);
  }
  if (resources.memory_mib > 0) {
    requests["memory"] = limits["memory"] = mebibytes(resources.memory_mib);
  }
  const int vcores_limit = part.options().vcores_limit;
  if (vcores_limit > 0) limits["cpu"] = base::format("{}", vcores_limit);
  if (resources.gpus > 0) limits["nvidia.com/gpu"] = base::format("{}", resources.gpus);
  for (const auto& [name, amount] : resources.others) limits[name] = base::format("{}", amount);
  Json out = Json::object();
  if (!requests.empty()) out["requests"] = std::move(requests);
  if (!limits.empty()) out["limits"] = std::move(limits);
  return out;
}

Json environment_of(const Part& part, const PodRun& run) {
  Json environment = Json::array();
  for (const auto& [name, value] : run.environment()) {
    // Those that change from run to run are the agent's to say.
    if (part.input.agents && frameworks::is_reserved(name)) continue;
    if (const auto key = secret_key(part.input.spec, part.task_spec, name)) {
      environment.push_back(
          {{"name", name},
           {"valueFrom", {{"secretKeyRef", {{"name", secret_name(part.input)}, {"key", *key}}}}}});
    } else {
      environment.push_back({{"name", name}, {"value", without_references(value)}});
    }
  }
  return refer_to_hosts(part.input, part.hosts, std::move(environment));
}

Json work_mount() { return {{"name", kWorkVolume}, {"mountPath", kWorkingFolder}}; }

// There whatever the image and its user are, and with a root file system that is read-only.
Json notice_mount() {
  const std::string_view file = kPodNoticeFile;
  return {{"name", kNoticeVolume}, {"mountPath", std::string(file.substr(0, file.rfind('/')))}};
}

bool is_shared_memory(std::string_view path) {
  while (path.size() > 1 && path.ends_with('/')) path.remove_suffix(1);
  return path == kSharedMemoryFolder;
}

// How much memory processes of the task share by /dev/shm; 0: as much as the runtime gives, which
// is 64 MiB and too little for the loaders of data. What the user has there stays.
std::int64_t shared_memory_mib(const Part& part) {
  const auto is_there = [](const Json& mount) {
    return mount.is_object() && mount.contains("mountPath") && mount.at("mountPath").is_string() &&
           is_shared_memory(mount.at("mountPath").get<std::string>());
  };
  const Json from = part.container.value("volumeMounts", Json::array());
  const bool is_the_users =
      std::ranges::any_of(part.input.spec.mounts,
                          [](const job::Mount& mount) { return is_shared_memory(mount.path); }) ||
      std::ranges::any_of(part.options().volume_mounts, is_there) ||
      (from.is_array() && std::any_of(from.begin(), from.end(), is_there)) ||
      part.from.at("spec").value("hostIPC", Json()) == true;
  return is_the_users ? 0 : part.task_spec.resources_of(part.task.index).memory_mib;
}

std::string host_volume(std::size_t index) { return base::format("gangrun-host-{}", index); }

// The user's come first: a server names one that it refuses by its place in the list.
Json mounts_of(const Part& part, const CarriedMounts& carried) {
  Json mounts = Json::array();
  for (const Json& mount : part.options().volume_mounts) mounts.push_back(mount);
  if (part.has_working_folder()) mounts.push_back(work_mount());
  if (!part.input.agents) mounts.push_back(notice_mount());
  if (shared_memory_mib(part) > 0) {
    mounts.push_back({{"name", kSharedMemoryVolume}, {"mountPath", kSharedMemoryFolder}});
  }
  mounts.insert(mounts.end(), carried.mounts.begin(), carried.mounts.end());
  for (std::size_t i = 0; i < part.input.spec.mounts.size(); ++i) {
    const job::Mount& mount = part.input.spec.mounts[i];
    mounts.push_back({{"name", host_volume(i)}, {"mountPath", mount.path}});
    if (mount.read_only) mounts.back()["readOnly"] = true;
  }
  return mounts;
}

Json volumes_of(const Part& part, const CarriedMounts& carried) {
  Json volumes = Json::array();
  for (const Json& volume : part.options().volumes) volumes.push_back(volume);
  if (part.has_working_folder()) {
    volumes.push_back({{"name", kWorkVolume}, {"emptyDir", Json::object()}});
  }
  if (!part.input.agents) {
    volumes.push_back({{"name", kNoticeVolume}, {"emptyDir", Json::object()}});
  }
  if (const std::int64_t mib = shared_memory_mib(part); mib > 0) {
    volumes.push_back({{"name", kSharedMemoryVolume},
                       {"emptyDir", {{"medium", "Memory"}, {"sizeLimit", mebibytes(mib)}}}});
  }
  volumes.insert(volumes.end(), carried.volumes.begin(), carried.volumes.end());
  for (std::size_t i = 0; i < part.input.spec.mounts.size(); ++i) {
    volumes.push_back(
        {{"name", host_volume(i)}, {"hostPath", {{"path", part.input.spec.mounts[i].path}}}});
  }
  return volumes;
}

void put_command(const Part& part, const PodRun& run, Json& container) {
  const std::vector<std::string> argv = part.input.spec.command_of(part.task_spec).argv();
  if (!argv.empty()) {
    for (const std::string& word : argv) container["command"].push_back(without_references(word));
    // Those of the template are not this command's.
    if (part.container.contains("args")) container["args"] = nullptr;
  }
  if (Json environment = environment_of(part, run); !environment.empty()) {
    container["env"] = std::move(environment);
  }
}

void put_image(const Part& part, Json& container) {
  const std::string& image = part.input.spec.image_of(part.task_spec);
  if (!image.empty()) container["image"] = image;
  if (!part.options().image_pull_policy.empty()) {
    container["imagePullPolicy"] = part.options().image_pull_policy;
  }
}

void append(const Json& more, Json& list) { list.insert(list.end(), more.begin(), more.end()); }

// The agent runs in place of the command. What it runs, and with which variables, is in the job's
// configuration.
void put_agent(const Part& part, const PodRun& run, Json& container) {
  AgentReach reach{.hint_ports =
                       hint_ports(part.input.job_id, part.task, is_on_host_network(part.from))};
  if (part.input.names.has_service_per_task) reach.own = address_of(part.input, part.task);
  Json own = agent_container(*part.input.agents, part.task, run.attempt, reach);
  container["command"] = own["command"];
  if (part.container.contains("args")) container["args"] = nullptr;
  container["env"] = own["env"];
  if (shows_variables(part.input)) append(environment_of(part, run), container["env"]);
  container["terminationMessagePolicy"] = own["terminationMessagePolicy"];
  append(own["volumeMounts"], container["volumeMounts"]);
}

Json container_of(const Part& part, const CarriedMounts& carried, const PodRun& run) {
  Json container = {{"name", task_container(part.from)}};
  put_image(part, container);
  if (!part.input.agents) put_command(part, run, container);
  if (part.has_working_folder()) container["workingDir"] = kWorkingFolder;
  if (Json resources = resources_of(part); !resources.empty()) {
    container["resources"] = std::move(resources);
  }
  container["volumeMounts"] = mounts_of(part, carried);
  if (part.input.agents) put_agent(part, run, container);
  return container;
}

// Keeps two of the type off one node.
Json one_per_node(const Part& part) {
  Json term = {{"labelSelector",
                {{"matchLabels", {{kJobLabel, part.input.job_id}, {kTypeLabel, part.task.type}}}}},
               {"topologyKey", "kubernetes.io/hostname"}};
  return {{"podAntiAffinity",
           {{"requiredDuringSchedulingIgnoredDuringExecution", Json::array({std::move(term)})}}}};
}

// Better one to avoid than none: what nodes there are is not known here.
Json off_nodes(const std::vector<std::string>& avoided) {
  constexpr int kStrongest = 100;
  Json fields = Json::array();
  for (const std::string& node : avoided) {
    // The server takes one name in each.
    fields.push_back(
        {{"key", "metadata.name"}, {"operator", "NotIn"}, {"values", Json::array({node})}});
  }
  Json term = {{"weight", kStrongest}, {"preference", {{"matchFields", std::move(fields)}}}};
  return {{"preferredDuringSchedulingIgnoredDuringExecution", Json::array({std::move(term)})}};
}

void put_access(const Part& part, Json& spec) {
  const KubernetesOptions& options = part.options();
  for (const std::string& name : options.image_pull_secrets) {
    spec["imagePullSecrets"].push_back({{"name", name}});
  }
  if (!options.service_account.empty()) spec["serviceAccountName"] = options.service_account;
  // A user who names an account wants its token; nobody else has use for one.
  const Json& from = part.from.at("spec");
  if (options.service_account.empty() && !from.contains("serviceAccountName") &&
      !from.contains("automountServiceAccountToken")) {
    spec["automountServiceAccountToken"] = false;
  }
  if (!from.contains("enableServiceLinks")) spec["enableServiceLinks"] = false;
}

void put_placement(const Part& part, Json& spec) {
  const KubernetesOptions& options = part.options();
  if (!options.node_selector.empty()) spec["nodeSelector"] = options.node_selector;
  // Agents run on no other node.
  if (part.input.agents && !part.input.agents->source.architecture.empty()) {
    spec["nodeSelector"][kArchitectureLabel] = part.input.agents->source.architecture;
  }
  if (!options.tolerations.empty()) spec["tolerations"] = options.tolerations;
  if (!options.priority_class.empty()) spec["priorityClassName"] = options.priority_class;
}

Json spec_of(const Part& part, const CarriedMounts& carried, const PodRun& run) {
  const auto grace = std::chrono::ceil<std::chrono::seconds>(part.input.spec.timeouts.stop);
  Json spec = {{"restartPolicy", "Never"},
               {"terminationGracePeriodSeconds", std::max<std::int64_t>(grace.count(), 1)}};
  if (!part.input.names.has_service_per_task) {
    spec["hostname"] = host_name(part.task);
    spec["subdomain"] = job_name(part.input);
  }
  put_access(part, spec);
  put_placement(part, spec);
  if (part.task_spec.one_per_node) spec["affinity"] = one_per_node(part);
  // Kueue admits no pod that is unlike those it has counted.
  const bool may_differ = part.input.gang_scheduling != GangScheduling::kKueue;
  if (!run.avoided.empty() && may_differ) {
    spec["affinity"]["nodeAffinity"] = off_nodes(run.avoided);
  }
  spec["containers"].push_back(container_of(part, carried, run));
  spec["volumes"] = volumes_of(part, carried);
  if (part.input.agents) append(agent_volumes(part.input, *part.input.agents), spec["volumes"]);
  return spec;
}

Json metadata_of_any(const Part& part, const std::string& name, const PodRun& run,
                     const Owner& owner) {
  Json metadata = metadata_of(part.input, name, &owner);
  metadata["labels"][kAttemptLabel] = base::format("{}", run.attempt);
  if (!part.options().annotations.empty()) metadata["annotations"] = part.options().annotations;
  return metadata;
}

Json metadata_of_pod(const Part& part, const PodRun& run, const Owner& owner) {
  const std::string name = pod_name(part.input, part.task);
  Json metadata = metadata_of_any(part, name, run, owner);
  Json& labels = metadata["labels"];
  labels[kTaskLabel] = base::format("{}-{}", part.task.type, part.task.index);
  labels[kTypeLabel] = part.task.type;
  for (const auto& [key, value] : part.options().labels) labels[key] = value;
  const int master = part.input.agents ? part.input.agents->master_number : 0;
  if (master > 0) labels[kMadeByLabel] = base::format("{}", master);
  if (part.input.names.has_service_per_task) labels["app"] = name;
  return metadata;
}

// A container of ours beside the task's has no more rights than that. It asks for storage only
// where that does: nodes need not count it.
Json as_task(const Json& beside, Json container) {
  for (const char* kind : {"requests", "limits"}) {
    if (says(beside, kind, kStorage)) container["resources"][kind][kStorage] = kHelperStorage;
  }
  for (const char* key : {"imagePullPolicy", "securityContext"}) {
    if (beside.contains(key)) container[key] = beside.at(key);
  }
  return container;
}

Json by_shell(const std::string& line, Json mounts) {
  return {{"command", {"/bin/sh", "-c", line}}, {"volumeMounts", std::move(mounts)}};
}

// A container of ours with its `own` command and the like.
Json helper(const char* name, const std::string& image, const Json& own, const Json& beside) {
  Json container = {{"name", name}, {"image", image}};
  container.update(own);
  container["resources"] = helper_amounts(beside.value("resources", Json::object()));
  return as_task(beside, std::move(container));
}

// Waits as long as a client may want the outputs.
std::string waiting_line(const ManifestInput& input) {
  const job::Timeouts& timeouts = input.spec.timeouts;
  const auto longest = timeouts.job.count() == 0
                           ? kLongestJob
                           : std::chrono::ceil<std::chrono::seconds>(timeouts.job + timeouts.stop);
  return base::format("trap 'exit 0' TERM; sleep {} & wait", (longest + kOutputsLimit).count());
}

void add_helpers(const Part& part, const CarriedMounts& carried, Json& pod) {
  const Json beside = *find_container(pod, task_container(pod));
  const std::string image = beside.at("image").get<std::string>();
  Json& spec = pod["spec"];
  // Before others of ours, which may run the agent.
  if (part.input.agents && part.input.agents->source.copier) {
    spec["initContainers"].push_back(as_task(beside, *part.input.agents->source.copier));
  }
  if (!carried.joined.empty()) {
    // An agent needs no shell of the image.
    const Json own =
        part.input.agents
            ? joining_container(*part.input.agents, carried.joined, carried.join_mounts)
            : by_shell(to_shell_line(carried.joined), carried.join_mounts);
    spec["initContainers"].push_back(helper(kFilesContainer, image, own, beside));
  }
  // Those of a task with an agent come from that.
  if (!part.outputs().empty() && !part.input.agents) {
    const std::string& own = part.options().helper_image;
    spec["containers"].push_back(
        helper(kOutputsContainer, own.empty() ? image : own,
               by_shell(waiting_line(part.input), Json::array({work_mount()})), beside));
  }
}

// The user's pod may name one itself: that stays.
void name_default_container(Json& pod) {
  const Json& spec = pod["spec"];
  const bool is_alone = spec.at("containers").size() == 1 && !spec.contains("initContainers");
  if (is_alone) return;
  Json& annotations = pod["metadata"]["annotations"];
  if (!annotations.contains(kDefaultContainer))
    annotations[kDefaultContainer] = task_container(pod);
}

// A pod of ours, which goes where the part's task may. Its container is as that of the task in
// image and rights, and has `own`; `account` is said over what tasks have.
Json pod_beside(const Part& part, Json spec, const Json& account, const char* name,
                const Json& own) {
  Json pod = part.from;
  // The task's container, as far as ours is like it.
  Json beside = {{"name", task_container(part.from)}, {"resources", resources_of(part)}};
  put_image(part, beside);
  merge_pod(pod, {{"spec", {{"containers", Json::array({beside})}}}});
  beside = *find_container(pod, task_container(pod));
  // It has fixed ports, and no use for what else tasks share with their nodes.
  for (const char* of_task : {"containers", "initContainers", "volumes", "resourceClaims",
                              "resources", "hostNetwork", "hostPID", "hostIPC"}) {
    pod["spec"].erase(of_task);
  }
  put_access(part, spec);
  spec.update(account);
  put_placement(part, spec);
  spec["containers"].push_back(helper(name, beside.at("image").get<std::string>(), own, beside));
  merge_pod(pod, {{"spec", std::move(spec)}});
  return pod;
}

}  // namespace

std::string without_references(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    out += text[i];
    // "$$" is one '$' to Kubernetes, "$(" begins a reference.
    if (text[i] == '$' && i + 1 < text.size() && (text[i + 1] == '$' || text[i + 1] == '(')) {
      out += '$';
    }
  }
  return out;
}

Json Manifests::pod(const job::TaskId& task, const PodRun& run, const Owner& owner) const {
  const job::TaskSpec* task_spec = input_.spec.find(task.type);
  GANGRUN_CHECK(task_spec != nullptr, task.type);
  Json pod = template_of(input_.spec, *task_spec);
  const Json from = pod;
  const Json* container = find_container(from, task_container(from));
  const Json none = Json::object();
  const Part part{input_, hosts_, *task_spec, task, from, container == nullptr ? none : *container};
  const CarriedMounts carried = carried_mounts(input_, layout_);
  merge_pod(pod, {{"metadata", metadata_of_pod(part, run, owner)},
                  {"spec", spec_of(part, carried, run)}});
  add_helpers(part, carried, pod);
  if (input_.fetched) {
    ask_for_storage(cluster::bytes_of(*input_.fetched), task_container(pod), pod);
  }
  name_default_container(pod);
  join_gang(input_, task, pod);
  return pod;
}

Json Manifests::relay(const PodRun& run, const Owner& owner) const {
  const job::TaskSpec& first = input_.spec.tasks.front();
  const Json from = template_of(input_.spec, first);
  const Json* found = find_container(from, task_container(from));
  const Json none = Json::object();
  const Part part{input_, hosts_, first, {first.type, 0}, from, found == nullptr ? none : *found};
  Json pod = pod_beside(part, {{"restartPolicy", "Never"}, {"terminationGracePeriodSeconds", 1}},
                        // It has no rights, whatever those of the tasks are.
                        {{"automountServiceAccountToken", false}}, kRelayContainer,
                        relay_container(*input_.agents));
  put_relay_amounts(part.options().relay, pod["spec"]["containers"][0]["resources"]);
  pod["spec"]["volumes"] = agent_volumes(input_, *input_.agents);
  merge_pod(pod, {{"metadata", metadata_of_any(part, relay_name(input_), run, owner)}});
  pod["metadata"]["labels"].erase(input_.names.tasks_label);
  return pod;
}

Json Manifests::master_template() const {
  const job::TaskSpec& first = input_.spec.tasks.front();
  const Json from = template_of(input_.spec, first);
  const Json* found = find_container(from, task_container(from));
  const Json none = Json::object();
  const Part part{input_, hosts_, first, {first.type, 0}, from, found == nullptr ? none : *found};
  Json pod = pod_beside(part, {{"restartPolicy", "OnFailure"}},
                        {{"serviceAccountName", part.options().master.service_account},
                         {"automountServiceAccountToken", true}},
                        kMasterContainer, master_container(input_, *input_.agents));
  pod["spec"]["volumes"] = master_volumes(input_, *input_.agents);
  Json metadata = {{"labels", metadata_of(input_, {}, nullptr).at("labels")}};
  metadata["labels"][kMasterLabel] = "1";
  if (!part.options().annotations.empty()) metadata["annotations"] = part.options().annotations;
  merge_pod(pod, {{"metadata", std::move(metadata)}});
  return {{"metadata", pod["metadata"]}, {"spec", pod["spec"]}};
}

}  // namespace gangrun::kubernetes::pods
