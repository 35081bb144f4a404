#include "jobfile/merge.h"

#include <algorithm>
#include <utility>

#include "base/format.h"
#include "base/overloaded.h"
#include "base/strings.h"
#include "job/units.h"
#include "jobfile/job_fields.h"
#include "jobfile/task_fields.h"

namespace gangrun::jobfile {

namespace {

using base::Result;

job::Policy policy_of(const JobDraft& draft, const job::TaskSpec& task) {
  const bool is_given = draft.is_given(base::format("tasks.{}.policy", task.type));
  return is_given ? task.policy : job::default_policy(task.type);
}

Result<job::TaskSpec*> find_target(JobDraft& draft, const Target& target, std::string_view flag,
                                   const std::string& text) {
  job::TaskSpec* task = draft.find(target.type);
  if (task == nullptr) {
    std::vector<std::string> types;
    for (const job::TaskSpec& known : draft.spec.tasks) types.push_back(known.type);
    const auto meant = base::nearest(target.type, types);
    return base::invalid_argument(base::format(
        "{}: {}: unknown task type {}{} this job has: {}", flag, job::in_quotes(text),
        job::in_quotes(target.type), meant ? base::format("; did you mean '{}'?", *meant) : ";",
        base::join(types, ", ")));
  }
  const int instances = task->slots();
  if (target.index && *target.index >= instances) {
    return base::invalid_argument(base::format(
        "{}: {}: there is no {}:{}; {} has {} {}, with index {}", flag, job::in_quotes(text),
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

void set_field(JobDraft& draft, job::TaskSpec& task, const TaskField& field,
               const FieldValue& value) {
  const FieldInfo& info = field.row->info;
  field.row->set(task, value);
  draft.origins[base::format("tasks.{}.{}", task.type, field.path)] =
      base::format("{}: ", name_of(info.flag));
  // It wins over what the file says of single tasks.
  if (info.flag.forms != FlagForms::kGeneralTypeOrTask) return;
  const auto* row = find_row(override_fields(), info.key);
  for (auto& [index, own] : task.overrides) row->set(own, FieldValue{});
}

void set_override(JobDraft& draft, job::TaskSpec& task, int index, const TaskField& field,
                  const FieldValue& value) {
  const FieldInfo& info = field.row->info;
  find_row(override_fields(), info.key)->set(task.overrides[index], value);
  draft.origins[base::format("tasks.{}.overrides.{}.{}", task.type, index, info.key)] =
      base::format("{}: ", name_of(info.flag));
}

Result<> merge_field(const FieldAssignments& given, JobDraft& draft) {
  const FieldFlag& flag = given.field->row->info.flag;
  for (const auto& assignment : by_reach(given.assignments)) {
    if (assignment.target.type.empty()) {
      for (job::TaskSpec& task : draft.spec.tasks) {
        if (!has(flag.meant_for, policy_of(draft, task))) continue;
        set_field(draft, task, *given.field, assignment.value);
      }
      continue;
    }
    GANGRUN_ASSIGN(job::TaskSpec * task,
                   find_target(draft, assignment.target, name_of(flag), assignment.text));
    if (assignment.target.index) {
      set_override(draft, *task, *assignment.target.index, *given.field, assignment.value);
    } else {
      set_field(draft, *task, *given.field, assignment.value);
    }
  }
  return {};
}

// Policies, and how many tasks there are, come before what depends on them.
bool depends_on_others(const FieldInfo& info) {
  return info.flag.meant_for != kAllPolicies || info.flag.forms == FlagForms::kGeneralTypeOrTask;
}

Result<> merge_fields(const ParsedFlags& parsed, JobDraft& draft) {
  for (const bool is_second : {false, true}) {
    for (const FieldAssignments& given : parsed.fields) {
      if (depends_on_others(given.field->row->info) != is_second) continue;
      GANGRUN_TRY(merge_field(given, draft));
    }
  }
  return {};
}

// Others than memory, vcores and GPUs: by name, else as merge_field().
Result<> merge_others(const std::vector<Assignment<OtherResource>>& assignments, JobDraft& draft) {
  constexpr std::string_view kFlag = "--resource";
  const auto note = [&](const job::TaskSpec& task, std::string_view level,
                        const std::string& name) {
    draft.origins[base::format("tasks.{}.{}resources.{}", task.type, level, name)] =
        base::format("{}: ", kFlag);
  };
  const auto set_type = [&](job::TaskSpec& task, const OtherResource& other) {
    task.resources.others[other.name] = other.amount;
    for (auto& [index, own] : task.overrides) own.others.erase(other.name);
    note(task, "", other.name);
  };
  for (const auto& assignment : by_reach(assignments)) {
    const OtherResource& other = assignment.value;
    if (assignment.target.type.empty()) {
      for (job::TaskSpec& task : draft.spec.tasks) set_type(task, other);
      continue;
    }
    GANGRUN_ASSIGN(job::TaskSpec * task,
                   find_target(draft, assignment.target, kFlag, assignment.text));
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

job::TaskSpec& find_or_add(JobDraft& draft, const std::string& type, const std::string& origin) {
  if (job::TaskSpec* known = draft.find(type)) return *known;
  job::TaskSpec& added = draft.spec.tasks.emplace_back();
  added.type = type;
  draft.origins["tasks." + type] = origin;
  return added;
}

void merge_roles(const ParsedFlags& parsed, const Flags& flags, JobDraft& draft) {
  for (const auto& [type, instances] : parsed.roles) {
    find_or_add(draft, type, "-r: ").instances = instances;
    draft.origins["tasks." + type + ".instances"] = "-r: ";
  }
  if (draft.spec.tasks.empty()) draft.spec.tasks.emplace_back().type = "worker";
  if (!flags.tensorboard) return;
  find_or_add(draft, "tensorboard", "--tensorboard: ").logdir = *flags.tensorboard;
  draft.origins["tasks.tensorboard.logdir"] = "--tensorboard: ";
}

// The task types that a value is for: one, or all.
Result<std::vector<job::TaskSpec*>> find_types(JobDraft& draft, const Target& target,
                                               std::string_view flag, const std::string& text) {
  std::vector<job::TaskSpec*> types;
  if (target.type.empty()) {
    for (job::TaskSpec& task : draft.spec.tasks) types.push_back(&task);
    return types;
  }
  GANGRUN_ASSIGN(types.emplace_back(), find_target(draft, target, flag, text));
  return types;
}

Result<> merge_ports(const ParsedFlags& parsed, JobDraft& draft) {
  for (const auto& assignment : by_reach(parsed.ports)) {
    GANGRUN_ASSIGN(const auto types,
                   find_types(draft, assignment.target, "--ports", assignment.text));
    for (job::TaskSpec* task : types) {
      // A number takes the names' place, and the other way round.
      task->ports.count = assignment.value.count;
      task->ports.names = assignment.value.names;
      for (const char* path : {"ports", "ports.n"}) {
        draft.origins[base::format("tasks.{}.{}", task->type, path)] = "--ports: ";
      }
    }
  }
  return {};
}

Result<> merge_environment(const ParsedFlags& parsed, JobDraft& draft) {
  for (const auto& assignment : by_reach(parsed.env)) {
    const auto& [name, value] = assignment.value;
    if (assignment.target.type.empty()) {
      for (job::TaskSpec& task : draft.spec.tasks) task.environment.erase(name);
      draft.spec.environment[name] = value;
      draft.origins["env." + name] = "-e: ";
      continue;
    }
    GANGRUN_ASSIGN(job::TaskSpec * task,
                   find_target(draft, assignment.target, "-e", assignment.text));
    task->environment[name] = value;
    draft.origins["tasks." + task->type + ".env." + name] = "-e: ";
  }
  return {};
}

void merge_command(const Flags& flags, JobDraft& draft) {
  if (flags.command.empty() && !flags.command_line) return;
  draft.spec.command = job::Command{flags.command, flags.command_line.value_or("")};
  if (!flags.command_line) draft.origins["command"] = "after --: ";
  for (job::TaskSpec& task : draft.spec.tasks) {
    if (policy_of(draft, task) == job::Policy::kSidecar) continue;
    task.command = {};
    draft.origins.erase(base::format("tasks.{}.command", task.type));
  }
}

template <typename T, typename Held>
void take(const std::optional<T>& value, Held& field, JobDraft& draft, const std::string& path,
          const std::string& flag) {
  if (!value) return;
  field = *value;
  draft.origins[path] = flag + ": ";
}

// Fields that are one number, one text or one choice.
void merge_job_fields(const ParsedFlags& parsed, JobDraft& draft) {
  for (const auto& [field, value] : parsed.job_fields) {
    field->row->set(draft.spec, value);
    draft.origins[field->path] = base::format("{}: ", name_of(field->row->info.flag));
  }
  for (const auto& [key, value] : parsed.timeouts) {
    find_row(timeouts_fields(), key)->set(draft.spec, value);
    draft.origins["timeouts." + key] = "--timeout: ";
  }
}

// Entries of a field of several.
Result<> take_items(const JobField& field, const std::vector<std::string>& items, JobDraft& draft) {
  const std::string_view flag = name_of(field.row->info.flag);
  for (const std::string& item : items) {
    const auto key = field.row->take(item, draft.spec);
    if (!key.ok()) return flag_error(flag, item, key.error().message);
    draft.origins[base::format("{}.{}", field.path, *key)] = base::format("{}: ", flag);
  }
  return {};
}

void set_list(const JobField& field, std::vector<std::string> items, JobDraft& draft) {
  const FieldFlag& flag = field.row->info.flag;
  const std::string origin = base::format("{}: ", name_of(flag));
  if (!flag.adds) {
    draft.origins[field.path] = origin;
    return field.row->set(draft.spec, std::move(items));
  }
  FieldValue all = field.row->get(draft.spec);
  using Texts = std::vector<std::string>;
  // Nothing was given yet of a list that may be absent.
  Texts list = std::visit(
      base::Overloaded{[](Texts& given) { return std::move(given); },
                       [](base::OneOf<std::monostate, bool, std::int64_t, std::string> auto&) {
                         return Texts();
                       }},
      all);
  for (std::string& item : items) {
    draft.origins[base::format("{}.{}", field.path, list.size())] = origin;
    list.push_back(std::move(item));
  }
  field.row->set(draft.spec, std::move(list));
}

Result<> merge_job_lists(const ParsedFlags& parsed, JobDraft& draft) {
  for (const auto& [field, items] : parsed.job_lists) {
    if (field->row->take != nullptr) {
      GANGRUN_TRY(take_items(*field, items, draft));
    } else {
      set_list(*field, items, draft);
    }
  }
  return {};
}

// Some places have queues, each in its section.
Result<> merge_queue(const Flags& flags, const RulesOfPlaces& places, JobDraft& draft) {
  if (!flags.queue) return {};
  const PlaceRules* place = places.with_queue(draft.spec);
  if (place == nullptr) return base::invalid_argument("--queue: no place here has queues");
  take(flags.queue, place->queue(draft.spec), draft, base::format("{}.queue", place->name),
       "--queue");
  return {};
}

// In a file each cluster passes over what another one is told: it may be for both. A flag is for
// this run.
Result<> refuse_flags_of_others(const JobDraft& draft, const RulesOfPlaces& places) {
  const PlaceRules* own = places.find(draft.spec.on);
  if (own == nullptr) return {};
  for (const Feature feature : own->without_use) {
    const auto asked = find_asked(draft.spec, feature);
    const auto origin = asked ? draft.origins.find(asked->path) : draft.origins.end();
    if (origin == draft.origins.end() || !origin->second.starts_with("--")) continue;
    return base::invalid_argument(base::format("{}{}: {}", origin->second, asked->path,
                                               places.refused(asked->value, *own, feature)));
  }
  for (const PlaceRules& other : places.all()) {
    if (&other == own || other.section == nullptr) continue;
    const std::string prefix = base::format("{}.", other.name);
    for (auto at = draft.origins.lower_bound(prefix);
         at != draft.origins.end() && at->first.starts_with(prefix); ++at) {
      if (!at->second.starts_with("--")) continue;
      return base::invalid_argument(
          base::format("{}{} is not allowed with `on: {}`; allowed with `on: {}`", at->second,
                       at->first, own->name, other.name));
    }
  }
  return {};
}

// A flag for the one leaves the other as it is.
void merge_restarts(const ParsedFlags& parsed, JobDraft& draft) {
  job::Restarts& restarts = draft.spec.restarts;
  const job::Restarts before = restarts;
  take(parsed.restarts, restarts, draft, "restarts", "--restarts");
  if (parsed.restarts) {
    for (const char* field : {"restarts.max", "restarts.scope"}) {
      draft.origins[field] = "--restarts: ";
    }
  }
  restarts.pause = before.pause;
  restarts.max_pause = before.max_pause;
  if (!parsed.pause) return;
  restarts.pause = *parsed.pause;
  restarts.max_pause = parsed.max_pause.value_or(std::max(before.max_pause, *parsed.pause));
  for (const char* field : {"restarts.pause", "restarts.max_pause"}) {
    draft.origins[field] = "--restart-pause: ";
  }
}

Result<> merge_job(const ParsedFlags& parsed, const Flags& flags, const RulesOfPlaces& places,
                   JobDraft& draft) {
  merge_job_fields(parsed, draft);
  if (const PlaceRules* place = places.find(draft.spec.on)) draft.spec.on = place->name;
  take(parsed.hosts, draft.spec.hosts, draft, "hosts", "--hosts");
  take(parsed.frameworks, draft.spec.frameworks, draft, "framework", "--framework");
  merge_restarts(parsed, draft);
  GANGRUN_TRY(merge_job_lists(parsed, draft));
  GANGRUN_TRY(merge_queue(flags, places, draft));
  const bool mirrors = parsed.zookeeper_hosts || flags.mirrors_in_zookeeper;
  if (mirrors && !draft.spec.zookeeper) draft.spec.zookeeper.emplace();
  if (parsed.zookeeper_hosts) {
    draft.spec.zookeeper->hosts = *parsed.zookeeper_hosts;
    draft.origins["zookeeper.hosts"] = "--zookeeper: ";
  }
  return {};
}

}  // namespace

Result<> merge_flags(const Flags& flags, const RulesOfPlaces& places, JobDraft& draft) {
  GANGRUN_ASSIGN(const ParsedFlags parsed, parse_flags(flags, places.job_fields()));
  merge_roles(parsed, flags, draft);
  GANGRUN_TRY(merge_fields(parsed, draft));
  GANGRUN_TRY(merge_ports(parsed, draft));
  GANGRUN_TRY(merge_others(parsed.others, draft));
  GANGRUN_TRY(merge_environment(parsed, draft));
  merge_command(flags, draft);
  GANGRUN_TRY(merge_job(parsed, flags, places, draft));
  return refuse_flags_of_others(draft, places);
}

}  // namespace gangrun::jobfile
