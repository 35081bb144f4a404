#include "job/plan_json.h"

#include "job/build.h"
#include "job/container.h"
#include "job/hosts.h"
#include "job/spec_kubernetes.h"
#include "job/spec_yaml.h"
#include "job/units.h"

namespace gangrun::job {

namespace {

using base::Json;

Json command_json(const Command& command) {
  if (command.words.empty()) return command.shell_line;
  Json words = Json::array();
  for (const std::string& word : command.words) words.push_back(word);
  return words;
}

Json environment_json(const std::map<std::string, std::string>& environment) {
  Json json = Json::object();
  for (const auto& [name, value] : environment) json[name] = value;
  return json;
}

Json overrides_json(const std::map<int, ResourceOverride>& overrides) {
  Json json = Json::object();
  for (const auto& [index, own] : overrides) {
    Json fields = Json::object();
    if (own.memory_mib) fields["memory"] = memory_text(*own.memory_mib);
    if (own.vcores) fields["vcores"] = *own.vcores;
    if (own.gpus) fields["gpus"] = *own.gpus;
    if (!own.others.empty()) fields["resources"] = own.others;
    json[std::to_string(index)] = std::move(fields);
  }
  return json;
}

Json ports_json(const Ports& ports) {
  Json json = {{"n", ports.count}};
  if (!ports.names.empty()) json["names"] = ports.names;
  json["hold"] = to_string(ports.hold);
  return json;
}

Json task_json(const TaskSpec& task) {
  Json json = {{"instances", task.instances}};
  if (task.min_instances) json["min_instances"] = *task.min_instances;
  if (task.spares > 0) json["spares"] = task.spares;
  json["processes"] = task.processes;
  json["ports"] = ports_json(task.ports);
  json["memory"] = memory_text(task.resources.memory_mib);
  json["vcores"] = task.resources.vcores;
  json["gpus"] = task.resources.gpus;
  if (!task.resources.others.empty()) json["resources"] = task.resources.others;
  if (!task.overrides.empty()) json["overrides"] = overrides_json(task.overrides);
  if (task.label) json["label"] = *task.label;
  if (task.one_per_node) json["one_per_node"] = true;
  if (task.image) json["image"] = *task.image;
  if (!task.archives.empty()) json["archives"] = task.archives;
  if (!task.environment.empty()) json["env"] = environment_json(task.environment);
  if (!task.pod.is_null()) json["pod"] = task.pod;
  if (task.outputs) json["outputs"] = *task.outputs;
  if (!task.command.empty()) json["command"] = command_json(task.command);
  json["policy"] = to_string(task.policy);
  if (task.policy == Policy::kObserver || task.policy == Policy::kSidecar) {
    json["grace"] = duration_text(task.grace);
  }
  if (!task.logdir.empty()) {
    json["logdir"] = task.logdir;
    json["expose"] = to_string(task.expose);
  }
  return json;
}

Json frameworks_json(const std::vector<Framework>& frameworks) {
  if (frameworks.empty()) return "none";
  Json names = Json::array();
  for (const Framework framework : frameworks) names.push_back(to_string(framework));
  return names;
}

Json timeouts_json(const Timeouts& timeouts) {
  Json json = {{"allocation", duration_text(timeouts.allocation)},
               {"hold", duration_text(timeouts.hold)},
               {"roll_call", duration_text(timeouts.roll_call)},
               {"job", duration_text(timeouts.job)},
               {"stop", duration_text(timeouts.stop)},
               {"shrink", duration_text(timeouts.shrink)}};
  if (timeouts.master_lost) json["master_lost"] = duration_text(*timeouts.master_lost);
  return json;
}

Json yarn_json(const YarnOptions& yarn) {
  Json json = Json::object();
  if (!yarn.queue.empty()) json["queue"] = yarn.queue;
  if (yarn.priority) json["priority"] = *yarn.priority;
  if (!yarn.tags.empty()) json["tags"] = yarn.tags;
  json["master"] = {{"memory", memory_text(yarn.master.memory_mib)},
                    {"vcores", yarn.master.vcores}};
  if (yarn.master_label) json["master"]["label"] = *yarn.master_label;
  if (!yarn.view_acl.empty()) json["view_acl"] = yarn.view_acl;
  if (!yarn.modify_acl.empty()) json["modify_acl"] = yarn.modify_acl;
  json["max_attempts"] = yarn.max_attempts;
  json["container_runtime"] = to_string(yarn.container_runtime);
  if (!yarn.file_systems.empty()) json["file_systems"] = yarn.file_systems;
  if (!yarn.principal.empty()) json["principal"] = yarn.principal;
  if (!yarn.keytab.empty()) json["keytab"] = yarn.keytab;
  if (!yarn.as.empty()) json["as"] = yarn.as;
  return json;
}

Json zookeeper_json(const ZooKeeper& zookeeper) {
  Json json = Json::object();
  if (!zookeeper.hosts.empty()) json["hosts"] = zookeeper.hosts;
  if (!zookeeper.root.empty()) json["root"] = zookeeper.root;
  json["readable_by"] = zookeeper.readable_by_all ? "all" : "job";
  return json;
}

}  // namespace

Json to_json(const JobSpec& spec) {
  Json tasks = Json::object();
  for (const TaskSpec& task : spec.tasks) tasks[task.type] = task_json(task);
  Json json = {{"name", spec.name}, {"tasks", std::move(tasks)}};
  if (!spec.command.empty()) json["command"] = command_json(spec.command);
  if (!spec.environment.empty()) json["env"] = environment_json(spec.environment);
  if (spec.frameworks) json["framework"] = frameworks_json(*spec.frameworks);
  json["success"] = spec.success;
  json["restarts"] = {{"max", spec.restarts.max},
                      {"scope", to_string(spec.restarts.scope)},
                      {"pause", duration_text(spec.restarts.pause)},
                      {"max_pause", duration_text(spec.restarts.max_pause)}};
  json["timeouts"] = timeouts_json(spec.timeouts);
  if (!spec.files.empty()) json["files"] = spec.files;
  if (!spec.archives.empty()) json["archives"] = spec.archives;
  if (!spec.image.empty()) json["image"] = spec.image;
  for (const Mount& mount : spec.mounts) json["mounts"].push_back(to_string(mount));
  if (spec.zookeeper) json["zookeeper"] = zookeeper_json(*spec.zookeeper);
  json["on"] = spec.on;
  if (spec.on == kYarn || spec.yarn != YarnOptions{}) json["yarn"] = yarn_json(spec.yarn);
  if (spec.on == kKubernetes || spec.kubernetes != KubernetesOptions{}) {
    json["kubernetes"] = to_json(spec.kubernetes);
    json["kubernetes"]["gang_scheduling"] = to_string(spec.kubernetes.gang_scheduling);
  }
  if (!spec.outputs.empty()) json["outputs"] = spec.outputs;
  if (!spec.hosts.empty()) {
    for (const Host& host : spec.hosts) json["hosts"].push_back(to_string(host));
  }
  if (!spec.interface.empty()) json["interface"] = spec.interface;
  json["containment"] = to_string(spec.containment);
  json["stop_signal"] = to_string(spec.stop_signal);
  json["stop_signal_to"] = to_string(spec.stop_signal_to);
  json["notice_signal"] = to_string(spec.notice_signal);
  return json;
}

base::Result<JobSpec> job_spec_from_json(const Json& json) {
  GANGRUN_ASSIGN(JobDraft draft, draft_from_json(json));
  return build(std::move(draft), Flags{}, Defaults{});
}

}  // namespace gangrun::job
