#include "job/spec_yaml.h"

#include <algorithm>
#include <span>
#include <utility>

#include "base/format.h"
#include "base/strings.h"
#include "job/hosts.h"
#include "job/limits.h"
#include "job/ports.h"
#include "job/spec_names.h"
#include "job/units.h"
#include "job/validate.h"
#include "job/yaml_tree.h"

namespace gangrun::job {

namespace {

using base::Result;
using Kind = YamlNode::Kind;
using Origins = std::map<std::string, std::string>;

// One value on its way into the draft: what it is, and what errors about it begin with.
struct Field {
  const YamlNode& node;
  std::string path;
  const std::string& source;
  Origins& origins;

  [[nodiscard]] base::Error error(std::string_view text) const { return error_at(node.mark, text); }
  [[nodiscard]] base::Error error_at(Mark mark, std::string_view text) const {
    return base::invalid_argument(base::format("{}{}{}{}", position_text(source, mark), path,
                                               path.empty() ? "" : ": ", text));
  }
  [[nodiscard]] base::Error error(const base::Error& cause) const { return error(cause.message); }
  [[nodiscard]] Field child(std::size_t i, const std::string& name) const {
    return {node.children[i], path.empty() ? name : base::format("{}.{}", path, name), source,
            origins};
  }
};

std::string shown(const YamlNode& node) {
  switch (node.kind) {
    case Kind::kNull: return "nothing";
    case Kind::kScalar: return in_quotes(node.text);
    case Kind::kList: return "a list";
    case Kind::kMap: return "a map";
  }
  return "";
}

template <typename Draft>
struct KeyRow {
  std::string_view name;
  Result<> (*read)(const Field&, Draft&);
};

template <typename Draft, std::size_t kRows>
std::vector<std::string> names_of(const KeyRow<Draft> (&rows)[kRows]) {
  std::vector<std::string> names;
  for (const auto& row : rows) names.emplace_back(row.name);
  return names;
}

// Every key of the map by its row; an unknown one is an error that says which there are.
template <typename Draft, std::size_t kRows>
Result<> read_map(const Field& field, const KeyRow<Draft> (&rows)[kRows], Draft& draft) {
  if (field.node.kind == Kind::kNull) return {};
  if (field.node.kind != Kind::kMap) {
    return field.error(base::format("{} is not allowed; allowed: a map of {}", shown(field.node),
                                    base::join(names_of(rows), ", ")));
  }
  for (std::size_t i = 0; i < field.node.keys.size(); ++i) {
    const YamlNode::Key& key = field.node.keys[i];
    const auto row = std::find_if(std::begin(rows), std::end(rows),
                                  [&](const KeyRow<Draft>& r) { return r.name == key.name; });
    if (row == std::end(rows)) {
      return field.error_at(key.mark, not_one_of(key.name, "a known key", names_of(rows)).message);
    }
    const Field child = field.child(i, key.name);
    field.origins[child.path] = position_text(field.source, child.node.mark);
    GANGRUN_TRY(row->read(child, draft));
  }
  return {};
}

Result<std::string> read_text(const Field& field, std::string_view allowed) {
  if (field.node.kind != Kind::kScalar) {
    return field.error(base::format("{} is not allowed; allowed: {}", shown(field.node), allowed));
  }
  return field.node.text;
}

// A scalar by `parse`, whose error gets position and path.
template <typename T, typename Parse>
Result<> read_scalar(const Field& field, std::string_view allowed, Parse parse,
                     std::optional<T>& out) {
  GANGRUN_ASSIGN(const std::string text, read_text(field, allowed));
  auto value = parse(text);
  if (!value.ok()) return field.error(value.error());
  out = std::move(*value);
  return {};
}

Result<> read_memory(const Field& field, std::optional<std::int64_t>& out) {
  return read_scalar(field, "an amount of memory, for example 2 GiB", parse_memory_mib, out);
}

Result<> read_duration(const Field& field, std::optional<std::chrono::milliseconds>& out) {
  return read_scalar(field, "a time, for example 10 min", parse_duration, out);
}

Result<> read_count(const Field& field, int min, int max, std::optional<int>& out) {
  return read_scalar(
      field, base::format("a whole number from {} to {}", min, max),
      [&](std::string_view text) { return parse_count(text, min, max); }, out);
}

Result<> read_string(const Field& field, std::string_view allowed,
                     std::optional<std::string>& out) {
  GANGRUN_ASSIGN(out, read_text(field, allowed));
  return {};
}

Result<std::vector<std::string>> read_list(const Field& field, std::string_view element) {
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < field.node.children.size(); ++i) {
    GANGRUN_ASSIGN(auto text, read_text(field.child(i, std::to_string(i)), element));
    texts.push_back(std::move(text));
  }
  return texts;
}

Result<> read_environment(const Field& field, std::map<std::string, std::string>& out) {
  if (field.node.kind == Kind::kNull) return {};
  if (field.node.kind != Kind::kMap) {
    return field.error(
        base::format("{} is not allowed; allowed: a map of variables to texts", shown(field.node)));
  }
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

Result<> read_command(const Field& field, std::optional<Command>& out) {
  Command command;
  if (field.node.kind == Kind::kList) {
    GANGRUN_ASSIGN(command.words, read_list(field, "a text, one word of the command"));
  } else {
    GANGRUN_ASSIGN(command.shell_line,
                   read_text(field, "a line for the shell, or a list of words"));
  }
  if (command.empty()) return field.error("the command is empty");
  out = std::move(command);
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
};

Result<> read_overrides(const Field& field, TaskDraft& task) {
  if (field.node.kind == Kind::kNull) return {};
  if (field.node.kind != Kind::kMap) {
    return field.error(base::format("{} is not allowed; allowed: a map of task indexes to {}",
                                    shown(field.node), base::join(names_of(kOverrideKeys), ", ")));
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
  if (field.node.kind != Kind::kList) {
    return field.error(
        base::format("{} is not allowed; allowed: a list of names", shown(field.node)));
  }
  GANGRUN_ASSIGN(ports.names, read_list(field, "the name of a port"));
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
    {"overrides", read_overrides},
    {"env",
     [](const Field& field, TaskDraft& task) { return read_environment(field, task.environment); }},
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
};

Result<> read_tasks(const Field& field, JobDraft& job) {
  if (field.node.kind != Kind::kMap) {
    return field.error(
        base::format("{} is not allowed; allowed: a map of task types, for example {{worker: "
                     "{{instances: 2}}}}",
                     shown(field.node)));
  }
  for (std::size_t i = 0; i < field.node.keys.size(); ++i) {
    const YamlNode::Key& key = field.node.keys[i];
    if (!is_valid_type_name(key.name)) {
      return field.error_at(key.mark,
                            base::format("{} is not a task type; allowed: a letter, then at most "
                                         "39 letters, digits, '_' or '-'",
                                         in_quotes(key.name)));
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
    GANGRUN_ASSIGN(names, read_list(field, "the name of a framework"));
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
};

Result<> read_restarts(const Field& field, JobDraft& job) {
  RestartsDraft draft;
  if (field.node.kind == Kind::kScalar) {
    GANGRUN_TRY(read_count(field, 0, kMaxRestarts, draft.max));
  } else {
    GANGRUN_TRY(read_map(field, kRestartsKeys, draft));
  }
  const Restarts defaults;
  job.restarts = Restarts{draft.max.value_or(defaults.max), draft.scope.value_or(defaults.scope)};
  return {};
}

constexpr KeyRow<TimeoutsDraft> kTimeoutsKeys[] = {
    {"allocation",
     [](const Field& field, TimeoutsDraft& t) { return read_duration(field, t.allocation); }},
    {"roll_call",
     [](const Field& field, TimeoutsDraft& t) { return read_duration(field, t.roll_call); }},
    {"job", [](const Field& field, TimeoutsDraft& t) { return read_duration(field, t.job); }},
    {"stop", [](const Field& field, TimeoutsDraft& t) { return read_duration(field, t.stop); }},
    {"shrink", [](const Field& field, TimeoutsDraft& t) { return read_duration(field, t.shrink); }},
    {"master_lost",
     [](const Field& field, TimeoutsDraft& t) { return read_duration(field, t.master_lost); }},
};

Result<> read_files(const Field& field, JobDraft& job) {
  if (field.node.kind != Kind::kList) {
    return field.error(
        base::format("{} is not allowed; allowed: a list of paths", shown(field.node)));
  }
  GANGRUN_ASSIGN(job.files, read_list(field, "a path"));
  return {};
}

Result<> read_hosts(const Field& field, JobDraft& job) {
  if (field.node.kind != Kind::kList) {
    return field.error(base::format("{} is not allowed; allowed: a list of NAME or NAME:SLOTS",
                                    shown(field.node)));
  }
  GANGRUN_ASSIGN(const auto texts, read_list(field, "a host, NAME or NAME:SLOTS"));
  auto hosts = hosts_from(texts);
  if (!hosts.ok()) return field.error(hosts.error());
  job.hosts = std::move(*hosts);
  return {};
}

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
    {"on", [](const Field& field,
              JobDraft& job) { return read_string(field, "the name of a place", job.on); }},
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

}  // namespace gangrun::job
