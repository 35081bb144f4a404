#include "kubernetes/commands/tf_spawner.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <set>
#include <utility>

#include "base/format.h"
#include "base/json.h"
#include "base/letters.h"
#include "base/strings.h"
#include "job/units.h"
#include "jobfile/build.h"
#include "jobfile/validate.h"
#include "jobfile/yaml_json.h"
#include "kubernetes/pods/names.h"
#include "kubernetes/pods/where_pods_work.h"
#include "kubernetes/value_at.h"

namespace gangrun::kubernetes::commands {

namespace {

using base::Json;
using base::Result;

constexpr std::string_view kDefaultTag = "tf-spawner";
constexpr std::string_view kDefaultImage = "tensorflow/tensorflow:2.1.0-py3";
constexpr std::string_view kWorker = "worker";
constexpr int kDefaultWorkers = 2;
constexpr int kDefaultPort = 1999;
constexpr const char* kScript = "/script/training-script.py";
constexpr const char* kScriptConfigMap = "script";
// The longest job name, so that the names of its other objects are not too long.
constexpr std::size_t kMaxNameBytes = 24;

base::Error refused(std::string_view flag, std::string_view text) {
  return base::invalid_argument(base::format("{}: {}", flag, text));
}

Result<int> count_in(std::string_view flag, const std::optional<std::string>& text, int fallback,
                     int max) {
  if (!text) return fallback;
  return job::parse_count(*text, 1, max).context(flag);
}

// An image for agents is named in job files only.
Result<> check_way(const std::optional<std::string>& agents) {
  for (const pods::AgentsBy by : {pods::AgentsBy::kConfigMaps, pods::AgentsBy::kNone}) {
    if (!agents || *agents == to_string(by)) return {};
  }
  return refused("--agents", base::format("{} is not a way for agents; allowed: config_maps, none",
                                          job::in_quotes(*agents)));
}

// As a part of an object's name, which is stricter than a label.
std::string in_object_name(std::string_view tag) {
  std::string name = base::in_small_letters(tag);
  std::replace_if(
      name.begin(), name.end(), [](char c) { return c == '.' || c == '_'; }, '-');
  return name;
}

std::string job_name(std::string_view tag) {
  std::string_view name = tag.substr(0, kMaxNameBytes);
  while (name.ends_with('-') || name.ends_with('_') || name.ends_with('.')) name.remove_suffix(1);
  return std::string(name);
}

// A template as the user wrote it: an object of Kubernetes of this kind, with a spec.
Result<Json> read_template(std::string_view flag, const std::string& text, std::string_view kind) {
  auto object = jobfile::yaml_to_json(text);
  if (!object.ok()) return object.error().context(flag);
  if (!object->is_object() || object->value("kind", Json()) != kind) {
    return refused(flag, base::format("is not the template of a {}; allowed: an object with `kind: "
                                      "{}`",
                                      kind, kind));
  }
  const auto spec = object->find("spec");
  if (spec == object->end() || !spec->is_object()) return refused(flag, "has no `spec`");
  const Json metadata = object->value("metadata", Json::object());
  if (!metadata.is_object() || !metadata.value("labels", Json::object()).is_object()) {
    return refused(flag, "has metadata or labels that are no mapping");
  }
  return std::move(*object);
}

// A part of the name that every run has of its own.
void erase_names(Json& object) {
  if (!object.contains("metadata")) return;
  Json& metadata = object["metadata"];
  metadata.erase("name");
  metadata.erase("namespace");
  if (!metadata.contains("labels")) return;
  metadata["labels"].erase("app");
  metadata["labels"].erase(std::string(kAttemptTag));
}

void erase_if(Json& object, const char* key, const std::function<bool(const Json&)>& predicate) {
  if (!value_at(object, {key}).is_array()) return;
  std::erase_if(object[key].get_ref<Json::array_t&>(), predicate);
}

// Templates that were made for tf-spawner mount the script themselves.
void erase_script(Json& spec) {
  std::set<std::string> volumes;
  const auto is_script = [&volumes](const Json& volume) {
    if (text_at(volume, {"configMap", "name"}) != kScriptConfigMap) return false;
    volumes.insert(text_at(volume, {"name"}));
    return true;
  };
  erase_if(spec, "volumes", is_script);
  for (Json& container : spec["containers"]) {
    if (!container.is_object()) continue;
    erase_if(container, "volumeMounts", [&volumes](const Json& mount) {
      return value_at(mount, {"name"}).is_string() && volumes.contains(text_at(mount, {"name"}));
    });
  }
}

Result<std::vector<std::string>> words_of(const Json& container, const char* key) {
  const auto list = container.find(key);
  if (list == container.end() || list->is_null()) return std::vector<std::string>{};
  std::vector<std::string> words;
  const bool is_list = list->is_array() && std::all_of(list->begin(), list->end(), [&](auto& word) {
                         if (word.is_string()) words.push_back(word.template get<std::string>());
                         return word.is_string();
                       });
  if (is_list) return words;
  return refused("--pod-file",
                 base::format("spec.containers[0].{} is not a list of words; put them in brackets "
                              "and quotes",
                              key));
}

// The worker's pod: the template without what the run decides, and what its container 0 runs.
struct WorkerPod {
  Json pod;  // null: none
  std::vector<std::string> command;
};

Result<WorkerPod> worker_pod(const std::optional<std::string>& text) {
  WorkerPod worker{.pod = Json(), .command = {"python", kScript}};
  if (!text) return worker;
  GANGRUN_ASSIGN(worker.pod, read_template("--pod-file", *text, "Pod"));
  erase_names(worker.pod);
  Json& spec = worker.pod["spec"];
  const auto containers = spec.find("containers");
  if (containers == spec.end() || !containers->is_array() || containers->empty() ||
      !containers->front().is_object()) {
    return refused("--pod-file",
                   "has no container; the first one of spec.containers is the worker's");
  }
  erase_script(spec);
  Json& first = spec["containers"].front();
  GANGRUN_ASSIGN(const auto command, words_of(first, "command"));
  GANGRUN_ASSIGN(const auto arguments, words_of(first, "args"));
  if (!command.empty()) worker.command = command;
  worker.command.insert(worker.command.end(), arguments.begin(), arguments.end());
  for (const char* key : {"command", "args", "image"}) first.erase(key);
  if (first.contains("env") && first["env"].is_null()) first.erase("env");
  return worker;
}

Result<std::vector<std::string>> command_of(const TfSpawnerFiles& files,
                                            const std::vector<std::string>& of_pod) {
  if (!files.command) return of_pod;
  const std::string line = command_line_of(*files.command);
  if (line.empty()) return refused("-c", "the file has no command");
  return std::vector<std::string>{"/bin/bash", "-c", line};
}

// TensorBoard reads what the workers write, so it has their volumes; but it computes nothing.
Json board_pod(Json pod) {
  if (!pod.is_null()) pod["spec"]["containers"].front().erase("resources");
  return pod;
}

std::map<job::TaskId, std::string> pod_names(int workers, const std::string& end) {
  std::map<job::TaskId, std::string> names;
  for (int index = 0; index < workers; ++index) {
    names[{std::string(kWorker), index}] = base::format("{}{}{}", kWorker, index, end);
  }
  return names;
}

jobfile::Flags flags_of(const TfSpawnerOptions& options, const std::string& tag, int workers) {
  jobfile::Flags flags;
  flags.job_fields["name"] = job_name(tag);
  flags.job_fields["on"] = std::string(pods::kKubernetes);
  flags.roles = {base::format("{}:{}", kWorker, workers)};
  flags.job_fields["image"] = options.image.value_or(std::string(kDefaultImage));
  flags.framework = std::string(job::to_string(job::Framework::kTensorflow));
  // A worker's resources stand in its pod.
  flags.fields["vcores"] = {"0"};
  flags.timeouts = options.timeouts;
  flags.tensorboard = options.tensorboard;
  flags.restarts = options.restarts;
  if (options.agents) flags.job_fields["kubernetes.agents"] = *options.agents;
  return flags;
}

}  // namespace

Result<std::string> tag_of(const TfSpawnerOptions& options, std::string_view random) {
  const bool has_positional = options.deletes && !options.positional.empty();
  if (has_positional && options.tag && *options.tag != options.positional) {
    return refused("-d",
                   base::format("{} and -t {} are different tags; give one of them",
                                job::in_quotes(options.positional), job::in_quotes(*options.tag)));
  }
  if (options.deletes && options.has_random_tag) {
    return refused("-r", "makes the tag of a new run; with -d name that of the run to delete");
  }
  std::string tag = options.tag.value_or(std::string(kDefaultTag));
  if (has_positional) tag = options.positional;
  if (options.has_random_tag) tag = random;
  if (!tag.empty() && pods::is_label_value(tag)) return tag;
  return refused(has_positional ? "-d" : "-t",
                 base::format("{} is not a tag; allowed: at most {} letters, digits, '-', '_' or "
                              "'.', a letter or digit at both ends",
                              job::in_quotes(tag), kMaxLabelBytes));
}

Result<std::map<std::string, std::string>> parse_env_file(std::string_view text) {
  std::map<std::string, std::string> variables;
  int number = 0;
  for (const std::string& whole : base::split(text, '\n')) {
    ++number;
    const std::string_view line = base::trim(whole);
    if (line.empty() || line.front() == '#') continue;
    const std::string flag = base::format("-e: line {}", number);
    const std::size_t equals = line.find('=');
    if (equals == std::string_view::npos) {
      // Not shown: it may be a secret that lost its name.
      return refused(flag, "has no '='; allowed: NAME=VALUE");
    }
    const std::string name(base::trim(line.substr(0, equals)));
    GANGRUN_TRY(jobfile::check_variable_name(name).context(flag));
    variables[name] = base::trim(line.substr(equals + 1));
  }
  return variables;
}

std::string command_line_of(std::string_view text) {
  std::vector<std::string> lines;
  for (const std::string& whole : base::split(text, '\n')) {
    const std::string_view line = base::trim(whole);
    if (!line.empty() && line.front() != '#') lines.emplace_back(line);
  }
  return base::format("{}", base::join(lines, " && "));
}

void name_cluster(const TfSpawnerOptions& options, pods::KubernetesOptions& kubernetes) {
  kubernetes.name_space = options.name_space.value_or("");
  kubernetes.kubeconfig = options.kubeconfig.value_or("");
  kubernetes.context = options.context.value_or("");
}

Result<KubernetesLaunch> tf_spawner_launch(const TfSpawnerOptions& options,
                                           const TfSpawnerFiles& files, const std::string& tag,
                                           const jobfile::RulesOfPlaces& places) {
  GANGRUN_ASSIGN(const int workers,
                 count_in("-w", options.workers, kDefaultWorkers, job::kMaxTasks));
  GANGRUN_ASSIGN(const int port, count_in("-p", options.port, kDefaultPort,
                                          std::numeric_limits<std::uint16_t>::max()));
  GANGRUN_TRY(check_way(options.agents));
  GANGRUN_ASSIGN(WorkerPod worker, worker_pod(files.pod));
  jobfile::Flags flags = flags_of(options, tag, workers);
  GANGRUN_ASSIGN(flags.command, command_of(files, worker.command));
  KubernetesLaunch launch;
  GANGRUN_ASSIGN(launch.spec, jobfile::build(std::nullopt, flags, {.places = &places}));
  if (files.environment) {
    GANGRUN_ASSIGN(launch.spec.environment, parse_env_file(*files.environment));
  }
  pods::KubernetesOptions& own = pods::edit_kubernetes(launch.spec);
  own.labels[std::string(kAttemptTag)] = tag;
  name_cluster(options, own);
  for (job::TaskSpec& task : launch.spec.tasks) {
    const bool is_worker = task.type == kWorker;
    task.pod = is_worker ? worker.pod : board_pod(worker.pod);
    if (is_worker) task.outputs = options.outputs;
  }
  GANGRUN_TRY(jobfile::validate(launch.spec, places));
  if (files.service) {
    GANGRUN_ASSIGN(launch.names.service_template,
                   read_template("--service-file", *files.service, "Service"));
    erase_names(launch.names.service_template);
  }
  launch.files = {{.path = kScript, .content = files.script}};
  launch.names.pods = pod_names(workers, "");
  launch.names.has_service_per_task = true;
  // By it users count the workers.
  launch.names.tasks_label = kAttemptTag;
  launch.names.script_config_map = kScriptConfigMap;
  launch.names.first_port = static_cast<std::uint16_t>(port);
  return launch;
}

base::Error in_own_words(base::Error error, const TfSpawnerOptions& options) {
  const auto file = [](std::string_view flag, const std::optional<std::string>& given,
                       std::string_view by_default) {
    return base::format("{} {}: ", flag, given.value_or(std::string(by_default)));
  };
  const std::string pod = file("--pod-file", options.pod_file, kPodFile);
  // The longest beginnings first.
  const std::pair<std::string_view, std::string> beginnings[] = {
      {"-r: tasks.worker.image: ", "-i: "},
      {"--image: ", "-i: "},
      {"--tensorboard: tasks.tensorboard: ", "--tensorboard: "},
      {"--timeout: timeouts.", "--timeout: "},
      {"tasks.worker.pod.", pod},
      {"tasks.tensorboard.pod.", pod},
      {"tasks.worker.outputs.", "--output: entry "},
      {"kubernetes.namespace: ", "-n: "},
      {"kubernetes.context: ", "--context: "},
      {"kubernetes.kubeconfig: ", "--kubeconfig: "},
      {"--pod-file: ", pod},
      {"--service-file: ", file("--service-file", options.service_file, kServiceFile)},
      {"-e: ", file("-e", options.env_file, "")},
      {"-c: ", file("-c", options.command_file, "")},
  };
  for (const auto& [theirs, ours] : beginnings) {
    if (!error.message.starts_with(theirs)) continue;
    error.message.replace(0, theirs.size(), ours);
    break;
  }
  return error;
}

std::string leave_out_agents(job::JobSpec& spec, const std::vector<pods::Right>& missing,
                             const std::string& name_space) {
  std::vector<pods::Right> of_agents;
  std::ranges::copy_if(missing, std::back_inserter(of_agents),
                       [](const pods::Right& right) { return right.is_for_agents; });
  if (of_agents.empty()) return {};
  pods::edit_kubernetes(spec).agents = pods::AgentsBy::kNone;
  return base::format(
      "no agents run beside the workers, as in the namespace '{}' you have no right to {}: this "
      "run is without {}",
      name_space, pods::words_of(of_agents), pods::what_agents_bring());
}

void take_names_of_its_own(KubernetesLaunch& launch, const std::string& tag) {
  const std::string end = "-" + in_object_name(tag);
  launch.names.pods = pod_names(launch.spec.find(kWorker)->instances, end);
  launch.names.script_config_map = kScriptConfigMap + end;
}

}  // namespace gangrun::kubernetes::commands
