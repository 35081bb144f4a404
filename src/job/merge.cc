#include "job/merge.h"

#include <algorithm>
#include <utility>

#include "base/format.h"
#include "base/strings.h"
#include "job/container.h"
#include "job/places.h"
#include "job/units.h"

namespace gangrun::job {

namespace {

using base::Result;

Policy policy_of(const TaskDraft& task) { return task.policy.value_or(default_policy(task.type)); }

Result<TaskDraft*> find_target(JobDraft& draft, const Target& target, std::string_view flag,
                               const std::string& text) {
  TaskDraft* task = draft.find(target.type);
  if (task == nullptr) {
    std::vector<std::string> types;
    for (const TaskDraft& known : draft.tasks) types.push_back(known.type);
    const auto meant = base::nearest(target.type, types);
    return base::invalid_argument(base::format(
        "{}: {}: unknown task type {}{} this job has: {}", flag, in_quotes(text),
        in_quotes(target.type), meant ? base::format("; did you mean '{}'?", *meant) : ";",
        base::join(types, ", ")));
  }
  const int instances = task->instances.value_or(1) + task->spares.value_or(0);
  if (target.index && *target.index >= instances) {
    return base::invalid_argument(base::format(
        "{}: {}: there is no {}:{}; {} has {} {}, with index {}", flag, in_quotes(text),
        target.type, *target.index, target.type, instances, instances == 1 ? "task" : "tasks",
        instances == 1 ? "0" : base::format("0 to {}", instances - 1)));
  }
  return task;
}

// From the most general to the most specific, else in the order in which they were given.
template <typename T>
std::vector<Assignment<T>> by_reach(std::vector<Assignment<T>> assignments) {
  const auto reach = [](const Assignment<T>& a) {
    return (a.target.type.empty() ? 0 : 1) + (a.target.index ? 1 : 0);
  };
  std::stable_sort(assignments.begin(), assignments.end(),
                   [&](const auto& a, const auto& b) { return reach(a) < reach(b); });
  return assignments;
}

// How one resource is called and where it stands.
template <typename T>
struct ResourceField {
  std::string_view flag;
  std::string_view key;
  std::optional<T> TaskDraft::*of_type;
  std::optional<T> ResourceOverride::*of_task;
  // Whether a value for all tasks is one for this type.
  bool (*is_meant)(const TaskDraft&) = nullptr;
};

template <typename T>
Result<> merge_resource(const std::vector<Assignment<T>>& assignments,
                        const ResourceField<T>& field, JobDraft& draft) {
  const auto set_type = [&](TaskDraft& task, T value) {
    task.*(field.of_type) = value;
    for (auto& [index, own] : task.overrides) (own.*(field.of_task)).reset();
    draft.origins[base::format("tasks.{}.{}", task.type, field.key)] =
        base::format("{}: ", field.flag);
  };
  for (const Assignment<T>& assignment : by_reach(assignments)) {
    if (assignment.target.type.empty()) {
      for (TaskDraft& task : draft.tasks) {
        if (field.is_meant(task)) set_type(task, assignment.value);
      }
      continue;
    }
    GANGRUN_ASSIGN(TaskDraft * task,
                   find_target(draft, assignment.target, field.flag, assignment.text));
    if (assignment.target.index) {
      task->overrides[*assignment.target.index].*(field.of_task) = assignment.value;
    } else {
      set_type(*task, assignment.value);
    }
  }
  return {};
}

// Others than memory, vcores and GPUs: by name, else as merge_resource().
Result<> merge_others(const std::vector<Assignment<OtherResource>>& assignments, JobDraft& draft) {
  constexpr std::string_view kFlag = "--resource";
  const auto note = [&](const TaskDraft& task, std::string_view level, const std::string& name) {
    draft.origins[base::format("tasks.{}.{}resources.{}", task.type, level, name)] =
        base::format("{}: ", kFlag);
  };
  const auto set_type = [&](TaskDraft& task, const OtherResource& other) {
    task.others[other.name] = other.amount;
    for (auto& [index, own] : task.overrides) own.others.erase(other.name);
    note(task, "", other.name);
  };
  for (const auto& assignment : by_reach(assignments)) {
    const OtherResource& other = assignment.value;
    if (assignment.target.type.empty()) {
      for (TaskDraft& task : draft.tasks) set_type(task, other);
      continue;
    }
    GANGRUN_ASSIGN(TaskDraft * task, find_target(draft, assignment.target, kFlag, assignment.text));
    if (assignment.target.index) {
      const int index = *assignment.target.index;
      task->overrides[index].others[other.name] = other.amount;
      note(*task, base::format("overrides.{}.", index), other.name);
    } else {
      set_type(*task, other);
    }
  }
  return {};
}

TaskDraft& find_or_add(JobDraft& draft, const std::string& type, const std::string& origin) {
  if (TaskDraft* known = draft.find(type)) return *known;
  TaskDraft& added = draft.tasks.emplace_back();
  added.type = type;
  draft.origins["tasks." + type] = origin;
  return added;
}

void merge_roles(const ParsedFlags& parsed, const Flags& flags, JobDraft& draft) {
  for (const auto& [type, instances] : parsed.roles) {
    find_or_add(draft, type, "-r: ").instances = instances;
    draft.origins["tasks." + type + ".instances"] = "-r: ";
  }
  if (draft.tasks.empty()) draft.tasks.emplace_back().type = "worker";
  if (!flags.tensorboard) return;
  find_or_add(draft, "tensorboard", "--tensorboard: ").logdir = *flags.tensorboard;
  draft.origins["tasks.tensorboard.logdir"] = "--tensorboard: ";
}

Result<> merge_resources(const ParsedFlags& parsed, JobDraft& draft) {
  const auto all = [](const TaskDraft&) { return true; };
  // A GPU for a parameter server or for TensorBoard is a GPU wasted: only when it is named.
  const auto trains = [](const TaskDraft& task) {
    return policy_of(task) == Policy::kTracked || policy_of(task) == Policy::kObserver;
  };
  GANGRUN_TRY(merge_resource<std::int64_t>(
      parsed.memory, {"-m", "memory", &TaskDraft::memory_mib, &ResourceOverride::memory_mib, all},
      draft));
  GANGRUN_TRY(merge_resource<int>(
      parsed.vcores, {"-c", "vcores", &TaskDraft::vcores, &ResourceOverride::vcores, all}, draft));
  GANGRUN_TRY(merge_resource<int>(
      parsed.gpus, {"--gpus", "gpus", &TaskDraft::gpus, &ResourceOverride::gpus, trains}, draft));
  return merge_others(parsed.others, draft);
}

// A number of a type, by a flag that has the name of its key.
Result<> merge_count(const std::vector<Assignment<int>>& assignments, std::string_view key,
                     std::optional<int> TaskDraft::*field, JobDraft& draft) {
  std::string flag = base::format("--{}", key);
  std::replace(flag.begin(), flag.end(), '_', '-');
  for (const auto& assignment : assignments) {
    GANGRUN_ASSIGN(TaskDraft * task, find_target(draft, assignment.target, flag, assignment.text));
    task->*field = assignment.value;
    draft.origins[base::format("tasks.{}.{}", task->type, key)] = flag + ": ";
  }
  return {};
}

// The task types that a value is for: one, or all.
Result<std::vector<TaskDraft*>> find_types(JobDraft& draft, const Target& target,
                                           std::string_view flag, const std::string& text) {
  std::vector<TaskDraft*> types;
  if (target.type.empty()) {
    for (TaskDraft& task : draft.tasks) types.push_back(&task);
    return types;
  }
  GANGRUN_ASSIGN(types.emplace_back(), find_target(draft, target, flag, text));
  return types;
}

Result<> merge_ports(const ParsedFlags& parsed, JobDraft& draft) {
  for (const auto& assignment : by_reach(parsed.ports)) {
    GANGRUN_ASSIGN(const auto types,
                   find_types(draft, assignment.target, "--ports", assignment.text));
    for (TaskDraft* task : types) {
      // A number takes the names' place, and the other way round.
      task->ports.count = assignment.value.count;
      task->ports.names = assignment.value.names;
      draft.origins[base::format("tasks.{}.ports", task->type)] = "--ports: ";
    }
  }
  for (const auto& assignment : by_reach(parsed.holds)) {
    GANGRUN_ASSIGN(const auto types,
                   find_types(draft, assignment.target, "--hold", assignment.text));
    for (TaskDraft* task : types) {
      task->ports.hold = assignment.value;
      draft.origins[base::format("tasks.{}.ports.hold", task->type)] = "--hold: ";
    }
  }
  return {};
}

// On which nodes of a cluster the tasks of a type may be.
Result<> merge_nodes(const ParsedFlags& parsed, JobDraft& draft) {
  for (const auto& assignment : by_reach(parsed.labels)) {
    GANGRUN_ASSIGN(const auto types,
                   find_types(draft, assignment.target, "--label", assignment.text));
    for (TaskDraft* task : types) {
      task->label = assignment.value;
      draft.origins[base::format("tasks.{}.label", task->type)] = "--label: ";
    }
  }
  for (const std::string& type : parsed.one_per_node) {
    GANGRUN_ASSIGN(TaskDraft * task,
                   find_target(draft, {type, std::nullopt}, "--one-per-node", type));
    task->one_per_node = true;
    draft.origins[base::format("tasks.{}.one_per_node", type)] = "--one-per-node: ";
  }
  return {};
}

Result<> merge_types(const ParsedFlags& parsed, JobDraft& draft) {
  for (const auto& assignment : parsed.policies) {
    GANGRUN_ASSIGN(TaskDraft * task,
                   find_target(draft, assignment.target, "--policy", assignment.text));
    task->policy = assignment.value;
  }
  for (const auto& assignment : parsed.graces) {
    GANGRUN_ASSIGN(TaskDraft * task,
                   find_target(draft, assignment.target, "--grace", assignment.text));
    task->grace = assignment.value;
    draft.origins["tasks." + task->type + ".grace"] = "--grace: ";
  }
  for (const auto& assignment : parsed.exposes) {
    GANGRUN_ASSIGN(TaskDraft * task,
                   find_target(draft, assignment.target, "--expose", assignment.text));
    task->expose = assignment.value;
    draft.origins["tasks." + task->type + ".expose"] = "--expose: ";
  }
  GANGRUN_TRY(merge_count(parsed.min_instances, "min_instances", &TaskDraft::min_instances, draft));
  GANGRUN_TRY(merge_count(parsed.spares, "spares", &TaskDraft::spares, draft));
  GANGRUN_TRY(merge_ports(parsed, draft));
  GANGRUN_TRY(merge_nodes(parsed, draft));
  for (const auto& assignment : by_reach(parsed.processes)) {
    if (!assignment.target.type.empty()) {
      GANGRUN_ASSIGN(TaskDraft * task,
                     find_target(draft, assignment.target, "--processes", assignment.text));
      task->processes = assignment.value;
      continue;
    }
    for (TaskDraft& task : draft.tasks) {
      if (policy_of(task) == Policy::kTracked) task.processes = assignment.value;
    }
  }
  return {};
}

Result<> merge_environment(const ParsedFlags& parsed, JobDraft& draft) {
  for (const auto& assignment : by_reach(parsed.env)) {
    const auto& [name, value] = assignment.value;
    if (assignment.target.type.empty()) {
      for (TaskDraft& task : draft.tasks) task.environment.erase(name);
      draft.environment[name] = value;
      draft.origins["env." + name] = "-e: ";
      continue;
    }
    GANGRUN_ASSIGN(TaskDraft * task, find_target(draft, assignment.target, "-e", assignment.text));
    task->environment[name] = value;
    draft.origins["tasks." + task->type + ".env." + name] = "-e: ";
  }
  return {};
}

void merge_command(const Flags& flags, JobDraft& draft) {
  if (flags.command.empty() && !flags.command_line) return;
  draft.command = Command{flags.command, flags.command_line.value_or("")};
  if (!flags.command_line) draft.origins["command"] = "after --: ";
  for (TaskDraft& task : draft.tasks) {
    if (policy_of(task) != Policy::kSidecar) task.command.reset();
  }
}

template <typename T>
void take(const std::optional<T>& value, std::optional<T>& field, JobDraft& draft,
          const std::string& path, const std::string& flag) {
  if (!value) return;
  field = value;
  draft.origins[path] = flag + ": ";
}

void merge_yarn(const YarnDraft& flags, JobDraft& draft) {
  take(flags.priority, draft.yarn.priority, draft, "yarn.priority", "--priority");
  take(flags.tags, draft.yarn.tags, draft, "yarn.tags", "--tag");
  take(flags.file_systems, draft.yarn.file_systems, draft, "yarn.file_systems", "--file-system");
  take(flags.principal, draft.yarn.principal, draft, "yarn.principal", "--principal");
  take(flags.keytab, draft.yarn.keytab, draft, "yarn.keytab", "--keytab");
  take(flags.as, draft.yarn.as, draft, "yarn.as", "--as");
  take(flags.master_memory_mib, draft.yarn.master_memory_mib, draft, "yarn.master.memory",
       "--master-memory");
  take(flags.master_vcores, draft.yarn.master_vcores, draft, "yarn.master.vcores",
       "--master-vcores");
}

void take(const std::optional<std::string>& value, std::string& field, JobDraft& draft,
          const std::string& path, const std::string& flag) {
  if (!value) return;
  field = *value;
  draft.origins[path] = flag + ": ";
}

void merge_kubernetes(const ParsedFlags& parsed, const Flags& flags, JobDraft& draft) {
  KubernetesOptions& own = draft.kubernetes;
  take(flags.kubeconfig, own.kubeconfig, draft, "kubernetes.kubeconfig", "--kubeconfig");
  take(flags.context, own.context, draft, "kubernetes.context", "--context");
  take(flags.name_space, own.name_space, draft, "kubernetes.namespace", "--namespace");
  take(flags.service_account, own.service_account, draft, "kubernetes.service_account",
       "--service-account");
  take(flags.priority_class, own.priority_class, draft, "kubernetes.priority_class",
       "--priority-class");
  if (flags.insecure) {
    own.insecure = true;
    draft.origins["kubernetes.insecure"] = "--insecure: ";
  }
  if (parsed.gang_scheduling) {
    own.gang_scheduling = *parsed.gang_scheduling;
    draft.origins["kubernetes.gang_scheduling"] = "--gang-scheduling: ";
  }
  for (const auto& [key, value] : parsed.node_selector) {
    own.node_selector[key] = value;
    draft.origins["kubernetes.node_selector." + key] = "--node-selector: ";
  }
  for (const std::string& secret : parsed.image_pull_secrets) {
    draft.origins[base::format("kubernetes.image_pull_secrets.{}", own.image_pull_secrets.size())] =
        "--image-pull-secret: ";
    own.image_pull_secrets.push_back(secret);
  }
}

// Both clusters have queues.
void merge_queue(const Flags& flags, JobDraft& draft) {
  if (draft.on == kKubernetes) {
    take(flags.queue, draft.kubernetes.queue, draft, "kubernetes.queue", "--queue");
  } else {
    take(flags.queue, draft.yarn.queue, draft, "yarn.queue", "--queue");
  }
}

// In a file each cluster passes over what another one is told: it may be for both. A flag is for
// this run.
Result<> refuse_flags_of_others(const JobDraft& draft) {
  const bool is_cluster = draft.on == kYarn || draft.on == kKubernetes;
  if (!is_cluster) return {};
  const std::string_view other = draft.on == kYarn ? kKubernetes : kYarn;
  const std::string prefix = base::format("{}.", other);
  for (auto at = draft.origins.lower_bound(prefix);
       at != draft.origins.end() && at->first.starts_with(prefix); ++at) {
    if (!at->second.starts_with("--")) continue;
    return base::invalid_argument(base::format(
        "{}is not allowed with `on: {}`; allowed with `on: {}`", at->second, *draft.on, other));
  }
  return {};
}

// A flag for the one leaves the other as it is.
void merge_restarts(const ParsedFlags& parsed, JobDraft& draft) {
  const Restarts before = draft.restarts.value_or(Restarts{});
  take(parsed.restarts, draft.restarts, draft, "restarts", "--restarts");
  if (parsed.restarts) {
    draft.restarts->pause = before.pause;
    draft.restarts->max_pause = before.max_pause;
  }
  if (!parsed.pause) return;
  if (!draft.restarts) draft.restarts.emplace();
  Restarts& restarts = *draft.restarts;
  restarts.pause = *parsed.pause;
  restarts.max_pause = parsed.max_pause.value_or(std::max(before.max_pause, *parsed.pause));
  for (const char* field : {"restarts.pause", "restarts.max_pause"}) {
    draft.origins[field] = "--restart-pause: ";
  }
}

void merge_job(const ParsedFlags& parsed, const Flags& flags, JobDraft& draft) {
  take(flags.name, draft.name, draft, "name", "--name");
  take(flags.success, draft.success, draft, "success", "--success");
  take(flags.on, draft.on, draft, "on", "--on");
  if (draft.on == kK8s) draft.on = kKubernetes;
  take(parsed.hosts, draft.hosts, draft, "hosts", "--hosts");
  take(parsed.interface, draft.interface, draft, "interface", "--interface");
  take(parsed.frameworks, draft.frameworks, draft, "framework", "--framework");
  merge_restarts(parsed, draft);
  take(parsed.containment, draft.containment, draft, "containment", "--containment");
  take(parsed.stop_signal, draft.stop_signal, draft, "stop_signal", "--stop-signal");
  take(parsed.stop_signal_to, draft.stop_signal_to, draft, "stop_signal_to", "--stop-signal-to");
  const auto take_timeout = [&](auto field, const std::string& name) {
    take(parsed.timeouts.*field, draft.timeouts.*field, draft, "timeouts." + name, "--timeout");
  };
  take_timeout(&TimeoutsDraft::allocation, "allocation");
  take_timeout(&TimeoutsDraft::hold, "hold");
  take_timeout(&TimeoutsDraft::roll_call, "roll_call");
  take_timeout(&TimeoutsDraft::job, "job");
  take_timeout(&TimeoutsDraft::stop, "stop");
  take_timeout(&TimeoutsDraft::shrink, "shrink");
  take_timeout(&TimeoutsDraft::master_lost, "master_lost");
  merge_yarn(parsed.yarn, draft);
  merge_kubernetes(parsed, flags, draft);
  merge_queue(flags, draft);
  take(flags.image, draft.image, draft, "image", "--image");
  for (const std::string& mount : flags.mounts) {
    draft.origins[base::format("mounts.{}", draft.mounts.size())] = "--mount: ";
    draft.mounts.push_back(mount_from(mount));
  }
  const bool mirrors = parsed.zookeeper_hosts || flags.mirrors_in_zookeeper;
  if (mirrors && !draft.zookeeper) draft.zookeeper.emplace();
  if (parsed.zookeeper_hosts) {
    draft.zookeeper->hosts = *parsed.zookeeper_hosts;
    draft.origins["zookeeper.hosts"] = "--zookeeper: ";
  }
  for (const std::string& file : flags.files) {
    draft.origins[base::format("files.{}", draft.files.size())] = "-f: ";
    draft.files.push_back(file);
  }
  for (const std::string& output : flags.outputs) {
    draft.origins[base::format("outputs.{}", draft.outputs.size())] = "--output: ";
    draft.outputs.push_back(output);
  }
}

}  // namespace

Result<> merge_flags(const Flags& flags, JobDraft& draft) {
  GANGRUN_ASSIGN(const ParsedFlags parsed, parse_flags(flags));
  merge_roles(parsed, flags, draft);
  // Policies come before what depends on them.
  GANGRUN_TRY(merge_types(parsed, draft));
  GANGRUN_TRY(merge_resources(parsed, draft));
  GANGRUN_TRY(merge_environment(parsed, draft));
  merge_command(flags, draft);
  merge_job(parsed, flags, draft);
  return refuse_flags_of_others(draft);
}

}  // namespace gangrun::job
