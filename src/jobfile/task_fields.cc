#include "jobfile/task_fields.h"

#include <functional>

#include "base/format.h"
#include "job/limits.h"
#include "jobfile/checks.h"
#include "jobfile/container.h"
#include "jobfile/field_values.h"

namespace gangrun::jobfile {

namespace {

constexpr Policies kWithAddress = policies_of(job::Policy::kTracked, job::Policy::kService);
constexpr Policies kAfterTheOthers = policies_of(job::Policy::kObserver, job::Policy::kSidecar);

Found check_this_label(const FieldValue& value, const std::string& path) {
  return check_label(*std::get_if<std::string>(&value), path);
}
Found check_this_image(const FieldValue& value, const std::string& path) {
  return check_image(*std::get_if<std::string>(&value), path);
}
Found check_these_outputs(const FieldValue& value, const std::string& path) {
  return check_outputs(*std::get_if<std::vector<std::string>>(&value), path);
}

// The resources of a task, and of one that differs from its type.
constexpr FieldInfo kMemoryField = {
    .key = "memory",
    .about = "Memory of each task",
    .is_always_written = true,
    .has_own_words = true,
    .flag = {.names = "-m,--memory",
             .forms = FlagForms::kGeneralTypeOrTask,
             .help = "Memory of each task, of each task of a type (ps:2g) or of one task "
                     "(worker[0]:8g)",
             .reference = "memory, in three forms (below)"},
    .default_words = "0: no request",
};
constexpr FieldInfo kVcoresField = {
    .key = "vcores",
    .about = "Processor cores of each task",
    .max = job::kMaxVcoresPerTask,
    .is_always_written = true,
    .has_own_words = true,
    .flag = {.names = "-c,--vcores",
             .forms = FlagForms::kGeneralTypeOrTask,
             .help = "Cores, in the same three forms",
             .reference = "cores, in three forms"},
};
// A GPU for a parameter server or for TensorBoard is a GPU wasted: only when it is named.
constexpr FieldInfo kGpusField = {
    .key = "gpus",
    .about = "GPUs of each task",
    .max = job::kMaxGpusPerTask,
    .is_always_written = true,
    .has_own_words = true,
    .flag = {.names = "--gpus",
             .forms = FlagForms::kGeneralTypeOrTask,
             .meant_for = policies_of(job::Policy::kTracked, job::Policy::kObserver),
             .help = "GPUs, in the same three forms",
             .reference = "GPUs, in three forms"},
    .reference = "[GPUs](#gpus) of each task, {range}",
};
constexpr FieldInfo kResourcesField = {
    .key = "resources",
    .about = "Other resources of each task, by the cluster's names and in its units",
    .reference =
        "on a cluster only: other resources of each task, by the cluster's names and in "
        "its units, as whole numbers: `{yarn.io/fpga: 1}`; memory, cores and GPUs have "
        "their own keys; at most 64",
    .default_words = "none",
    .schema = R"({"$ref": "#/$defs/resources"})",
    .python = "Mapping[str, int] = dataclasses.field(default_factory=dict)",
};

constexpr FieldRow<job::ResourceOverride> kOverrideFields[] = {
    field_of<&job::ResourceOverride::memory_mib>(kMemoryField),
    field_of<&job::ResourceOverride::vcores>(kVcoresField),
    field_of<&job::ResourceOverride::gpus>(kGpusField),
    own_field<read_resources, plain_json, &job::ResourceOverride::others>(kResourcesField),
};

constexpr FieldRow<job::TaskSpec> kPortsFields[] = {
    field_of<&job::TaskSpec::ports, &job::Ports::count>({
        .key = "n",
        .about = "Number of ports",
        .min = 1,
        .max = job::kMaxPortsPerTask,
        .is_always_written = true,
        .has_own_words = true,
        .default_words = "1, or the number of the `names`",
    }),
    own_field<read_port_names, plain_json, &job::TaskSpec::ports, &job::Ports::names>({
        .key = "names",
        .about = "Names of the ports; each one has a variable GANGRUN_PORT_NAME",
        .reference = "a list of names: a letter, then at most 39 letters, digits, `_` or `-`; "
                     "two names must differ in more than case or `_` and `-`",
        .default_words = "none",
        .schema = R"({"type": "array", "minItems": 1, "maxItems": 64, "uniqueItems": true,
              "items": {"type": "string", "pattern": "^[A-Za-z][A-Za-z0-9_-]{0,39}$"}})",
    }),
    field_of<&job::TaskSpec::ports, &job::Ports::hold>({
        .key = "hold",
        .about = "How long the ports are held for the task; until-exec is for programs that bind "
                 "with neither SO_REUSEADDR nor SO_REUSEPORT",
        .is_always_written = true,
        .has_own_words = true,
        .flag = {.names = "--hold",
                 .forms = FlagForms::kGeneralOrType,
                 .value = "until-bind|until-exec",
                 .help = "How long ports are held, also for one type (web:until-exec); until-exec "
                         "is for programs that set neither SO_REUSEADDR nor SO_REUSEPORT",
                 .reference = "`type:until-exec`; without a type for all"},
        .reference = "`until-bind` or `until-exec` (below)",
    }),
};

constexpr FieldRow<job::TaskSpec> kTaskFields[] = {
    field_of<&job::TaskSpec::instances>({
        .key = "instances",
        .about = "Number of tasks",
        .min = 1,
        .max = job::kMaxTasks,
        .is_always_written = true,
        .has_own_words = true,
    }),
    field_of<&job::TaskSpec::min_instances>({
        .key = "min_instances",
        .about = "Minimum number of tasks of a type needed to keep the job running",
        .min = 1,
        .max = job::kMaxTasks,
        .policies = kWithAddress,
        .has_own_words = true,
        .flag = {.names = "--min-instances"},
        .reference = "minimum number of tasks needed to start the job and to keep it running "
                     "(below), 1 to `instances`",
        .default_words = "all",
    }),
    field_of<&job::TaskSpec::spares>({
        .key = "spares",
        .about = "Idle tasks of a type that replace lost ones at once",
        .max = job::kMaxTasks,
        .policies = kWithAddress,
        .flag = {.names = "--spares"},
        .reference = "extra agents that wait to replace a lost task (below), {range}",
    }),
    field_of<&job::TaskSpec::processes>({
        .key = "processes",
        .about = "Processes (ranks) in each task",
        .min = 1,
        .max = job::kMaxProcessesPerTask,
        .is_always_written = true,
        .flag = {.names = "--processes",
                 .forms = FlagForms::kGeneralOrType,
                 .meant_for = policies_of(job::Policy::kTracked),
                 .reference = "`2` or `worker:2`"},
    }),
    map_field<job::TaskSpec, ports_fields>({
        .key = "ports",
        .about = "How many ports each task gets, and how long they are held",
        .reference = "a map (below): how many ports each task gets, and how long they are held",
        .default_words = "one, `until-bind`",
        .schema = R"({"oneOf": [{"$ref": "#/$defs/ports"}, {"type": "null"}]})",
        .python = "Optional[Mapping[str, Any]] = None",
    }),
    field_of<&job::TaskSpec::resources, &job::Resources::memory_mib>(kMemoryField),
    field_of<&job::TaskSpec::resources, &job::Resources::vcores>(kVcoresField),
    field_of<&job::TaskSpec::resources, &job::Resources::gpus>(kGpusField),
    own_field<read_resources, plain_json, &job::TaskSpec::resources, &job::Resources::others>(
        kResourcesField),
    own_field<read_overrides, overrides_json, &job::TaskSpec::overrides>({
        .key = "overrides",
        .about = "Resources that differ from those of the type, by task index",
        .reference = "a map from task index (spares count after the instances) to the "
                     "`memory`, `vcores`, `gpus` and `resources` that differ: `{0: {memory: "
                     "8 GiB}}`",
        .default_words = "none",
        .schema = R"({"oneOf": [{"type": "object", "propertyNames": {"pattern": "^[0-9]{1,4}$"},
              "additionalProperties": {"oneOf": [{"$ref": "#/$defs/override"}, {"type": "null"}]}},
              {"type": "null"}]})",
    }),
    field_of<&job::TaskSpec::label>({
        .key = "label",
        .about = "Node label to run on, on a cluster",
        .allowed = "a node label; nodes without one are \"\"",
        .has_own_words = true,
        .flag = {.names = "--label",
                 .forms = FlagForms::kGeneralOrType,
                 .reference = "`type:label`; without a type for all; `type:` means nodes without a "
                              "label"},
        .reference = "on a cluster only: the label of the nodes that run these tasks; `\"\"` means "
                     "nodes without a label",
        .default_words = "the queue's",
        .schema = R"({"pattern": "^([A-Za-z0-9][A-Za-z0-9_-]{0,254})?$"})",
        .check = check_this_label,
    }),
    field_of<&job::TaskSpec::one_per_node>({
        .key = "one_per_node",
        .about = "At most one task of a type on each node of a cluster",
        .has_own_words = true,
        .flag = {.names = "--one-per-node", .forms = FlagForms::kTypes, .reference = "`type`"},
        .reference = "on a cluster only: `true`: no two of these tasks run on one node",
    }),
    field_of<&job::TaskSpec::image>({
        .key = "image",
        .about = "Container image that these tasks run in; \"\" means none",
        .allowed = "the name of an image; none is \"\"",
        .has_own_words = true,
        .reference = "the image of these tasks; `\"\"`: none",
        .default_words = "the job's",
        .schema = R"({"maxLength": 255})",
        .check = check_this_image,
    }),
    own_field<read_archives, plain_json, &job::TaskSpec::archives>({
        .key = "archives",
        .about = "More archives that are unpacked for these tasks, by folder name",
        .reference = "on YARN only: more archives for these tasks; for the same folder they "
                     "override the job's",
        .default_words = "none",
        .schema = R"({"oneOf": [{"$ref": "#/$defs/archives"}, {"type": "null"}]})",
    }),
    own_field<read_environment, plain_json, &job::TaskSpec::environment>({
        .key = "env",
        .about = "Environment variables of these tasks, in addition to those of the job",
        .reference = "variables for these tasks; they override the job's",
        .default_words = "none",
        .schema = R"({"$ref": "#/$defs/env"})",
        .python = "Mapping[str, str] = dataclasses.field(default_factory=dict)",
    }),
    own_field<read_pod, std::identity{}, &job::TaskSpec::pod>({
        .key = "pod",
        .about = "A pod, or a part of one, as Kubernetes writes it",
        .reference = "with `on: kubernetes` only: a pod or part of a pod, merged over the "
                     "`pod` of [`kubernetes`](#kubernetes)",
        .default_words = "none",
        .schema = R"({"$ref": "#/$defs/pod"})",
        .python = "Optional[Mapping[str, Any]] = None",
    }),
    field_of<&job::TaskSpec::outputs>({
        .key = "outputs",
        .about = "Files and folders of these tasks to keep, relative to their working folder",
        .allowed = "paths, a path",
        .has_own_words = true,
        .reference = "which files of these tasks to keep; `[]`: none",
        .default_words = "the job's",
        .schema = R"({"$ref": "#/$defs/outputs"})",
        .check = check_these_outputs,
    }),
    own_field<read_command, command_json, &job::TaskSpec::command>({
        .key = "command",
        .about = "What these tasks run: a list of words, or a line for the shell",
        .reference = "the command of these tasks",
        .default_words = "the job's",
        .schema = R"({"$ref": "#/$defs/command"})",
        .python = "Union[None, str, Sequence[str]] = None",
    }),
    field_of<&job::TaskSpec::policy>({
        .key = "policy",
        .about = "What the type means for the end of the job",
        .is_always_written = true,
        .has_own_words = true,
        .flag = {.names = "--policy", .help = "tracked, service, observer or sidecar"},
        .reference = "`tracked`, `service`, `observer` or `sidecar` (below)",
        .default_words = "by the type's name",
    }),
    field_of<&job::TaskSpec::grace>({
        .key = "grace",
        .about = "How long an observer may be idle, or a sidecar may keep running, after the other "
                 "tasks",
        .policies = kAfterTheOthers,
        .is_always_written = true,
        .has_own_words = true,
        .flag = {.names = "--grace"},
        .reference = "observer: the longest time without progress after the tracked tasks have "
                     "ended; sidecar: how long it runs after them",
        .default_words = "observer `2 min`, sidecar `0`",
    }),
    field_of<&job::TaskSpec::logdir>({
        .key = "logdir",
        .about = "Folder that TensorBoard shows",
        .allowed = "the path of a folder",
        .policies = policies_of(job::Policy::kSidecar),
        .has_own_words = true,
        .default_words = "none",
    }),
    field_of<&job::TaskSpec::expose>({
        .key = "expose",
        .about = "Who can reach TensorBoard: its own host only, or everyone who can reach that "
                 "host",
        .beside = "logdir",
        .is_always_written = true,
        .has_own_words = true,
        .flag = {.names = "--expose",
                 .value = "TYPE:loopback|host",
                 .reference = "`type:loopback` or `type:host`"},
        .reference = "with `logdir` only: who can reach TensorBoard. `loopback`: its own host; "
                     "`host`: everybody who can reach its host",
    }),
};

std::string policies_text(Policies policies) {
  std::vector<std::string> names;
  for (const job::Policy policy : {job::Policy::kTracked, job::Policy::kService,
                                   job::Policy::kObserver, job::Policy::kSidecar}) {
    if (has(policies, policy)) names.emplace_back(to_string(policy));
  }
  return base::format("the {} {}", names.size() == 1 ? "policy" : "policies",
                      base::join(names, " and "));
}

// "spares", "a grace".
std::string thing(std::string_view key) {
  return base::format("{}{}", key.ends_with('s') ? "" : "a ", key);
}

Found check_use(const job::JobSpec& job, const job::TaskSpec& task, const TaskField& field,
                const std::string& path) {
  const FieldInfo& info = field.row->info;
  if (has_default(*field.row, task)) return std::nullopt;
  if (!has(info.policies, task.policy) && !has(info.policies, job::effective_policy(job, task))) {
    return Problem{path,
                   base::format("only {} {} {}; {} is {}", policies_text(info.policies),
                                info.policies == (info.policies & -info.policies) ? "has" : "have",
                                thing(info.key), task.type, to_string(task.policy))};
  }
  const auto* other = info.beside.empty() ? nullptr : find_row(task_fields(), info.beside);
  if (other == nullptr || !has_default(*other, task)) return std::nullopt;
  return Problem{path, base::format("only a task with a {0} has one; give it `{0}`", info.beside)};
}

}  // namespace

FieldRows<job::TaskSpec> task_fields() { return kTaskFields; }
FieldRows<job::TaskSpec> ports_fields() { return kPortsFields; }
FieldRows<job::ResourceOverride> override_fields() { return kOverrideFields; }

const std::vector<TaskField>& plain_task_fields() {
  static const std::vector<TaskField> kFields = [] {
    std::vector<TaskField> fields;
    add_plain_fields(task_fields(), "", fields);
    add_plain_fields(ports_fields(), "ports.", fields);
    return fields;
  }();
  return kFields;
}

Found check_task_fields(const job::JobSpec& job, const job::TaskSpec& task,
                        const std::string& path) {
  for (const TaskField& field : plain_task_fields()) {
    const std::string own_path = base::format("{}.{}", path, field.path);
    if (auto found = check_use(job, task, field, own_path)) return found;
    if (auto found = check_value(field.row->info, field.row->get(task), own_path)) return found;
  }
  return std::nullopt;
}

}  // namespace gangrun::jobfile
