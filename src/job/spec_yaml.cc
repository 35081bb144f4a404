#include "job/spec_yaml.h"

#include <utility>

#include "base/format.h"
#include "base/strings.h"
#include "job/container.h"
#include "job/hosts.h"
#include "job/limits.h"
#include "job/ports.h"
#include "job/resources.h"
#include "job/spec_field.h"
#include "job/spec_kubernetes.h"
#include "job/spec_names.h"
#include "job/task_id.h"
#include "job/units.h"
#include "job/validate.h"
#include "job/yaml_tree.h"
#include "job/zookeeper.h"

namespace gangrun::job {

namespace {

using base::Result;
using Kind = YamlNode::Kind;

Result<> read_environment(const Field& field, std::map<std::string, std::string>& out) {
  if (field.node.kind == Kind::kNull) return {};
  if (field.node.kind != Kind::kMap) return field.not_allowed("a map of variables to texts");
  for (std::size_t i = 0; i < field.node.keys.size(); ++i) {
    const YamlNode::Key& key = field.node.keys[i];
    if (auto valid = check_variable_name(key.name); !valid.ok()) {
      return field.error_at(key.mark, valid.error().message);
    }
    const Field child = field.child(i, key.name);
    field.origins[child.path] = position_text(field.source, key.mark);
    GANGRUN_ASSIGN(out[key.name], read_text(child, "a text; an empty one is written \"\""));
  }
  return {};
}

Result<> read_archives(const Field& field, std::map<std::string, std::string>& out) {
  if (field.node.kind == Kind::kNull) return {};
  if (field.node.kind != Kind::kMap) {
    return field.not_allowed("a map of folders to archives, for example {env: env.tar.gz}");
  }
  for (std::size_t i = 0; i < field.node.keys.size(); ++i) {
    const YamlNode::Key& key = field.node.keys[i];
    const Field child = field.child(i, key.name);
    field.origins[child.path] = position_text(field.source, key.mark);
    GANGRUN_ASSIGN(out[key.name], read_text(child, "a path or URL of an archive"));
  }
  return {};
}

Result<> read_command(const Field& field, std::optional<Command>& out) {
  Command command;
  if (field.node.kind == Kind::kList) {
    GANGRUN_ASSIGN(command.words, read_list(field, "words", "a text, one word of the command"));
  } else {
    GANGRUN_ASSIGN(command.shell_line,
                   read_text(field, "a line for the shell, or a list of words"));
  }
  if (command.empty()) return field.error("the command is empty");
  out = std::move(command);
  return {};
}

// Names are looked at here, so that an error says where the name stands.
Result<> read_resources(const Field& field, std::map<std::string, std::int64_t>& out) {
  if (field.node.kind == Kind::kNull) return {};
  if (field.node.kind != Kind::kMap) {
    return field.not_allowed("a map of resources to numbers, for example {yarn.io/fpga: 1}");
  }
  for (std::size_t i = 0; i < field.node.keys.size(); ++i) {
    const YamlNode::Key& key = field.node.keys[i];
    if (auto valid = check_resource_name(key.name); !valid.ok()) {
      return field.error_at(key.mark, valid.error().message);
    }
    const Field child = field.child(i, key.name);
    field.origins[child.path] = position_text(field.source, child.node.mark);
    std::optional<std::int64_t> amount;
    GANGRUN_TRY(read_scalar(child, "a whole number", parse_resource_amount, amount));
    out[key.name] = *amount;
  }
  return {};
}

constexpr KeyRow<ResourceOverride> kOverrideKeys[] = {
    {"memory",
     [](const Field& field, ResourceOverride& own) { return read_memory(field, own.memory_mib); }},
    {"vcores",
     [](const Field& field, ResourceOverride& own) {
       return read_count(field, 0, kMaxVcoresPerTask, own.vcores);
     }},
    {"gpus", [](const Field& field,
                ResourceOverride& own) { return read_count(field, 0, kMaxGpusPerTask, own.gpus); }},
    {"resources",
     [](const Field& field, ResourceOverride& own) { return read_resources(field, own.others); }},
};

Result<> read_overrides(const Field& field, TaskDraft& task) {
  if (field.node.kind == Kind::kNull) return {};
  if (field.node.kind != Kind::kMap) {
    return field.not_allowed(
        base::format("a map of task indexes to {}", base::join(names_of(kOverrideKeys), ", ")));
  }
  for (std::size_t i = 0; i < field.node.keys.size(); ++i) {
    const YamlNode::Key& key = field.node.keys[i];
    const auto index = parse_count(key.name, 0, kMaxTasks - 1);
    if (!index.ok()) {
      return field.error_at(key.mark, base::format("index {}", index.error().message));
    }
    const Field child = field.child(i, std::to_string(*index));
    const auto [entry, is_new] = task.overrides.emplace(*index, ResourceOverride{});
    if (!is_new) return field.error_at(key.mark, base::format("index {} is given twice", *index));
    field.origins[child.path] = position_text(field.source, key.mark);
    GANGRUN_TRY(read_map(child, kOverrideKeys, entry->second));
  }
  return {};
}

Result<> read_port_names(const Field& field, PortsDraft& ports) {
  GANGRUN_ASSIGN(ports.names, read_list(field, "names", "the name of a port"));
  if (ports.names->empty()) return field.error("no port is named; allowed: one name or more");
  return {};
}

constexpr KeyRow<PortsDraft> kPortsKeys[] = {
    {"n", [](const Field& field,
             PortsDraft& ports) { return read_count(field, 1, kMaxPortsPerTask, ports.count); }},
    {"names", read_port_names},
    {"hold",
     [](const Field& field, PortsDraft& ports) {
       return read_scalar(field, base::format("{}", base::join(hold_names(), ", ")), hold_from,
                          ports.hold);
     }},
};

constexpr KeyRow<TaskDraft> kTaskKeys[] = {
    {"instances", [](const Field& field,
                     TaskDraft& task) { return read_count(field, 1, kMaxTasks, task.instances); }},
    {"min_instances",
     [](const Field& field, TaskDraft& task) {
       return read_count(field, 1, kMaxTasks, task.min_instances);
     }},
    {"spares", [](const Field& field,
                  TaskDraft& task) { return read_count(field, 0, kMaxTasks, task.spares); }},
    {"processes",
     [](const Field& field, TaskDraft& task) {
       return read_count(field, 1, kMaxProcessesPerTask, task.processes);
     }},
    {"ports",
     [](const Field& field, TaskDraft& task) { return read_map(field, kPortsKeys, task.ports); }},
    {"memory",
     [](const Field& field, TaskDraft& task) { return read_memory(field, task.memory_mib); }},
    {"vcores",
     [](const Field& field, TaskDraft& task) {
       return read_count(field, 0, kMaxVcoresPerTask, task.vcores);
     }},
    {"gpus", [](const Field& field,
                TaskDraft& task) { return read_count(field, 0, kMaxGpusPerTask, task.gpus); }},
    {"resources",
     [](const Field& field, TaskDraft& task) { return read_resources(field, task.others); }},
    {"overrides", read_overrides},
    {"label",
     [](const Field& field, TaskDraft& task) {
       return read_string(field, "a node label; nodes without one are \"\"", task.label);
     }},
    {"one_per_node",
     [](const Field& field, TaskDraft& task) { return read_choice(field, task.one_per_node); }},
    {"image",
     [](const Field& field, TaskDraft& task) {
       return read_string(field, "the name of an image; none is \"\"", task.image);
     }},
    {"archives",
     [](const Field& field, TaskDraft& task) { return read_archives(field, task.archives); }},
    {"env",
     [](const Field& field, TaskDraft& task) { return read_environment(field, task.environment); }},
    {"pod", [](const Field& field, TaskDraft& task) { return read_pod(field, task.pod); }},
    {"outputs",
     [](const Field& field, TaskDraft& task) -> Result<> {
       GANGRUN_ASSIGN(task.outputs, read_list(field, "paths", "a path"));
       return {};
     }},
    {"command",
     [](const Field& field, TaskDraft& task) { return read_command(field, task.command); }},
    {"policy",
     [](const Field& field, TaskDraft& task) {
       return read_scalar(field, base::format("{}", base::join(policy_names(), ", ")), policy_from,
                          task.policy);
     }},
    {"grace", [](const Field& field, TaskDraft& task) { return read_duration(field, task.grace); }},
    {"logdir",
     [](const Field& field, TaskDraft& task) {
       return read_string(field, "the path of a folder", task.logdir);
     }},
    {"expose",
     [](const Field& field, TaskDraft& task) {
       return read_scalar(field, base::format("{}", base::join(expose_names(), ", ")), expose_from,
                          task.expose);
     }},
};

Result<> read_tasks(const Field& field, JobDraft& job) {
  if (field.node.kind != Kind::kMap) {
    return field.not_allowed("a map of task types, for example {worker: {instances: 2}}");
  }
  for (std::size_t i = 0; i < field.node.keys.size(); ++i) {
    const YamlNode::Key& key = field.node.keys[i];
    if (!is_valid_type_name(key.name)) {
      return field.error_at(key.mark, base::format("{} is not a task type; allowed: {}",
                                                   in_quotes(key.name), kTypeNameForm));
    }
    TaskDraft task;
    task.type = key.name;
    const Field child = field.child(i, key.name);
    field.origins[child.path] = position_text(field.source, key.mark);
    GANGRUN_TRY(read_map(child, kTaskKeys, task));
    job.tasks.push_back(std::move(task));
  }
  if (job.tasks.empty()) return field.error("a job needs at least one task");
  return {};
}

Result<> read_framework(const Field& field, JobDraft& job) {
  std::vector<std::string> names;
  if (field.node.kind == Kind::kList) {
    GANGRUN_ASSIGN(names, read_list(field, "names", "the name of a framework"));
  } else {
    GANGRUN_ASSIGN(names.emplace_back(), read_text(field, "a name, or a list of names"));
  }
  auto frameworks = frameworks_from(names);
  if (!frameworks.ok()) return field.error(frameworks.error());
  job.frameworks = std::move(*frameworks);
  return {};
}

struct RestartsDraft {
  std::optional<int> max;
  std::optional<RestartScope> scope;
  std::optional<std::chrono::milliseconds> pause;
  std::optional<std::chrono::milliseconds> max_pause;
};

constexpr KeyRow<RestartsDraft> kRestartsKeys[] = {
    {"max",
     [](const Field& field, RestartsDraft& restarts) {
       return read_count(field, 0, kMaxRestarts, restarts.max);
     }},
    {"scope",
     [](const Field& field, RestartsDraft& restarts) {
       return read_scalar(field, base::format("{}", base::join(restart_scope_names(), ", ")),
                          restart_scope_from, restarts.scope);
     }},
    {"pause", [](const Field& field,
                 RestartsDraft& restarts) { return read_duration(field, restarts.pause); }},
    {"max_pause", [](const Field& field,
                     RestartsDraft& restarts) { return read_duration(field, restarts.max_pause); }},
};

Result<> read_restarts(const Field& field, JobDraft& job) {
  RestartsDraft draft;
  if (field.node.kind == Kind::kScalar) {
    GANGRUN_TRY(read_count(field, 0, kMaxRestarts, draft.max));
  } else {
    GANGRUN_TRY(read_map(field, kRestartsKeys, draft));
  }
  Restarts& restarts = job.restarts.emplace();
  restarts.max = draft.max.value_or(restarts.max);
  restarts.scope = draft.scope.value_or(restarts.scope);
  restarts.pause = draft.pause.value_or(restarts.pause);
  // Who asks for a longer one means it.
  restarts.max_pause = draft.max_pause.value_or(std::max(restarts.max_pause, restarts.pause));
  return {};
}

constexpr KeyRow<TimeoutsDraft> kTimeoutsKeys[] = {
    {"allocation",
     [](const Field& field, TimeoutsDraft& t) { return read_duration(field, t.allocation); }},
    {"hold", [](const Field& field, TimeoutsDraft& t) { return read_duration(field, t.hold); }},
    {"roll_call",
     [](const Field& field, TimeoutsDraft& t) { return read_duration(field, t.roll_call); }},
    {"job", [](const Field& field, TimeoutsDraft& t) { return read_duration(field, t.job); }},
    {"stop", [](const Field& field, TimeoutsDraft& t) { return read_duration(field, t.stop); }},
    {"shrink", [](const Field& field, TimeoutsDraft& t) { return read_duration(field, t.shrink); }},
    {"master_lost",
     [](const Field& field, TimeoutsDraft& t) { return read_duration(field, t.master_lost); }},
};

Result<> read_files(const Field& field, JobDraft& job) {
  GANGRUN_ASSIGN(job.files, read_list(field, "paths", "a path"));
  return {};
}

Result<> read_hosts(const Field& field, JobDraft& job) {
  GANGRUN_ASSIGN(const auto texts,
                 read_list(field, "NAME or NAME:SLOTS", "a host, NAME or NAME:SLOTS"));
  auto hosts = hosts_from(texts);
  if (!hosts.ok()) return field.error(hosts.error());
  job.hosts = std::move(*hosts);
  return {};
}

Result<> read_mounts(const Field& field, JobDraft& job) {
  GANGRUN_ASSIGN(const auto texts, read_list(field, "paths", "PATH or PATH:ro"));
  for (const std::string& text : texts) job.mounts.push_back(mount_from(text));
  return {};
}

constexpr KeyRow<ZooKeeper> kZooKeeperKeys[] = {
    {"hosts",
     [](const Field& field, ZooKeeper& zookeeper) -> Result<> {
       GANGRUN_ASSIGN(zookeeper.hosts, read_list(field, "HOST or HOST:PORT", "HOST or HOST:PORT"));
       return {};
     }},
    {"root",
     [](const Field& field, ZooKeeper& zookeeper) -> Result<> {
       GANGRUN_ASSIGN(zookeeper.root, read_text(field, "a path, for example /registry"));
       return {};
     }},
    {"readable_by",
     [](const Field& field, ZooKeeper& zookeeper) -> Result<> {
       GANGRUN_ASSIGN(const std::string text, read_text(field, "all, job"));
       const auto readers = readers_from(text);
       if (!readers.ok()) return field.error(readers.error());
       zookeeper.readable_by_all = *readers;
       return {};
     }},
};

Result<> read_zookeeper(const Field& field, JobDraft& job) {
  return read_map(field, kZooKeeperKeys, job.zookeeper.emplace());
}

constexpr KeyRow<YarnDraft> kMasterKeys[] = {
    {"memory", [](const Field& field,
                  YarnDraft& yarn) { return read_memory(field, yarn.master_memory_mib); }},
    {"vcores",
     [](const Field& field, YarnDraft& yarn) {
       return read_count(field, 1, kMaxVcoresPerTask, yarn.master_vcores);
     }},
    {"label",
     [](const Field& field, YarnDraft& yarn) {
       return read_string(field, "a node label; nodes without one are \"\"", yarn.master_label);
     }},
};

Result<> read_tags(const Field& field, YarnDraft& yarn) {
  GANGRUN_ASSIGN(yarn.tags, read_list(field, "texts", "a tag, a text"));
  return {};
}

Result<> read_file_systems(const Field& field, YarnDraft& yarn) {
  GANGRUN_ASSIGN(yarn.file_systems, read_list(field, "texts", "a URL, hdfs://…"));
  return {};
}

constexpr KeyRow<YarnDraft> kYarnKeys[] = {
    {"queue",
     [](const Field& field, YarnDraft& yarn) {
       return read_string(field, "the name of a queue", yarn.queue);
     }},
    {"priority", [](const Field& field,
                    YarnDraft& yarn) { return read_count(field, 0, kMaxPriority, yarn.priority); }},
    {"tags", read_tags},
    {"master",
     [](const Field& field, YarnDraft& yarn) { return read_map(field, kMasterKeys, yarn); }},
    {"view_acl",
     [](const Field& field, YarnDraft& yarn) {
       return read_string(field, "users and groups, \"user,user group,group\"", yarn.view_acl);
     }},
    {"modify_acl",
     [](const Field& field, YarnDraft& yarn) {
       return read_string(field, "users and groups, \"user,user group,group\"", yarn.modify_acl);
     }},
    {"max_attempts",
     [](const Field& field, YarnDraft& yarn) {
       return read_count(field, 0, kMaxMasterAttempts, yarn.max_attempts);
     }},
    {"container_runtime",
     [](const Field& field, YarnDraft& yarn) {
       return read_scalar(field, base::format("{}", base::join(container_runtime_names(), ", ")),
                          container_runtime_from, yarn.container_runtime);
     }},
    {"file_systems", read_file_systems},
    {"principal",
     [](const Field& field, YarnDraft& yarn) {
       return read_string(field, "a Kerberos principal, name@REALM", yarn.principal);
     }},
    {"keytab", [](const Field& field,
                  YarnDraft& yarn) { return read_string(field, "a file with keys", yarn.keytab); }},
    {"as", [](const Field& field,
              YarnDraft& yarn) { return read_string(field, "the name of a user", yarn.as); }},
};

constexpr KeyRow<JobDraft> kJobKeys[] = {
    {"name",
     [](const Field& field, JobDraft& job) {
       return read_string(field, "a name that can be a folder's", job.name);
     }},
    {"tasks", read_tasks},
    {"command", [](const Field& field, JobDraft& job) { return read_command(field, job.command); }},
    {"env",
     [](const Field& field, JobDraft& job) { return read_environment(field, job.environment); }},
    {"framework", read_framework},
    {"success",
     [](const Field& field, JobDraft& job) {
       return read_string(field, "all, or a task type", job.success);
     }},
    {"restarts", read_restarts},
    {"timeouts", [](const Field& field,
                    JobDraft& job) { return read_map(field, kTimeoutsKeys, job.timeouts); }},
    {"files", read_files},
    {"archives",
     [](const Field& field, JobDraft& job) { return read_archives(field, job.archives); }},
    {"image",
     [](const Field& field, JobDraft& job) {
       return read_string(field, "the name of a container image", job.image);
     }},
    {"mounts", read_mounts},
    {"zookeeper", read_zookeeper},
    {"on", [](const Field& field,
              JobDraft& job) { return read_string(field, "the name of a place", job.on); }},
    {"yarn",
     [](const Field& field, JobDraft& job) { return read_map(field, kYarnKeys, job.yarn); }},
    {"kubernetes",
     [](const Field& field, JobDraft& job) { return read_kubernetes(field, job.kubernetes); }},
    {"outputs",
     [](const Field& field, JobDraft& job) -> Result<> {
       GANGRUN_ASSIGN(job.outputs, read_list(field, "paths", "a path"));
       return {};
     }},
    {"hosts", read_hosts},
    {"interface",
     [](const Field& field, JobDraft& job) {
       return read_scalar(field, "the name of an interface, or a network as 10.0.0.0/8",
                          parse_interface, job.interface);
     }},
    {"containment",
     [](const Field& field, JobDraft& job) {
       return read_scalar(field, base::format("{}", base::join(containment_names(), ", ")),
                          containment_from, job.containment);
     }},
    {"stop_signal",
     [](const Field& field, JobDraft& job) {
       return read_scalar(field, base::format("{}", base::join(stop_signal_names(), ", ")),
                          stop_signal_from, job.stop_signal);
     }},
    {"stop_signal_to",
     [](const Field& field, JobDraft& job) {
       return read_scalar(field, base::format("{}", base::join(stop_signal_to_names(), ", ")),
                          stop_signal_to_from, job.stop_signal_to);
     }},
    {"notice_signal",
     [](const Field& field, JobDraft& job) {
       return read_scalar(field, base::format("{}", base::join(notice_signal_names(), ", ")),
                          notice_signal_from, job.notice_signal);
     }},
};

Result<JobDraft> read_job(const YamlNode& root, const std::string& source) {
  JobDraft job;
  const Field field{root, "", source, job.origins};
  if (root.kind == Kind::kNull) return field.error("is empty; a job file has at least `tasks`");
  GANGRUN_TRY(read_map(field, kJobKeys, job));
  if (job.tasks.empty()) return field.error("`tasks` is missing; a job needs at least one task");
  return job;
}

}  // namespace

Result<JobDraft> parse_spec(std::string_view text, const std::string& source_name) {
  GANGRUN_ASSIGN(const YamlNode root, parse_yaml(text, source_name));
  return read_job(root, source_name);
}

Result<JobDraft> draft_from_json(const base::Json& json) {
  GANGRUN_ASSIGN(const YamlNode root, yaml_from_json(json));
  return read_job(root, "");
}

std::vector<std::string> job_keys() { return names_of(kJobKeys); }
std::vector<std::string> task_keys() { return names_of(kTaskKeys); }
std::vector<std::string> ports_keys() { return names_of(kPortsKeys); }
std::vector<std::string> override_keys() { return names_of(kOverrideKeys); }
std::vector<std::string> restarts_keys() { return names_of(kRestartsKeys); }
std::vector<std::string> timeouts_keys() { return names_of(kTimeoutsKeys); }
std::vector<std::string> zookeeper_keys() { return names_of(kZooKeeperKeys); }
std::vector<std::string> yarn_keys() { return names_of(kYarnKeys); }
std::vector<std::string> yarn_master_keys() { return names_of(kMasterKeys); }

}  // namespace gangrun::job
