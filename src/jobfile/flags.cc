#include "jobfile/flags.h"

#include <algorithm>

#include "base/format.h"
#include "base/strings.h"
#include "job/choice.h"
#include "job/limits.h"
#include "job/spec_names.h"
#include "job/task_id.h"
#include "job/units.h"
#include "jobfile/hosts.h"
#include "jobfile/resources.h"
#include "jobfile/validate.h"

namespace gangrun::jobfile {

namespace {

using base::Result;

// The parts of all of a flag's texts, at its commas.
std::vector<std::string> items_of(const std::vector<std::string>& texts) {
  std::vector<std::string> items;
  for (const std::string& text : texts) {
    for (const std::string& part : base::split(text, ',')) items.emplace_back(base::trim(part));
  }
  return items;
}

Result<std::string> parse_type(std::string_view text) {
  if (job::is_valid_type_name(text)) return std::string(text);
  return base::invalid_argument(
      base::format("{} is not a task type; allowed: {}", job::in_quotes(text), job::kTypeNameForm));
}

// "worker" or "worker[0]".
Result<Target> parse_target(std::string_view text) {
  Target target;
  const std::size_t bracket = text.find('[');
  GANGRUN_ASSIGN(target.type, parse_type(text.substr(0, bracket)));
  if (bracket == std::string_view::npos) return target;
  if (!text.ends_with(']')) {
    return base::invalid_argument(
        base::format("{} has no closing bracket; one task is written "
                     "type[index], for example worker[0]",
                     job::in_quotes(text)));
  }
  const auto index =
      job::parse_count(text.substr(bracket + 1, text.size() - bracket - 2), 0, job::kMaxTasks - 1);
  if (!index.ok()) return base::invalid_argument("index " + index.error().message);
  target.index = *index;
  return target;
}

// Every item of a flag of the form "value", "type:value" or "type[index]:value".
template <typename T, typename Parse>
Result<std::vector<Assignment<T>>> parse_assignments(std::string_view flag,
                                                     const std::vector<std::string>& texts,
                                                     FlagForms forms, Parse parse) {
  std::vector<Assignment<T>> assignments;
  for (const std::string& item : items_of(texts)) {
    Assignment<T> assignment;
    assignment.text = item;
    std::string_view value = item;
    const std::size_t colon = item.find(':');
    if (colon != std::string::npos) {
      auto target = parse_target(value.substr(0, colon));
      if (!target.ok()) return flag_error(flag, item, target.error().message);
      assignment.target = std::move(*target);
      value.remove_prefix(colon + 1);
    } else if (forms == FlagForms::kTypeOnly) {
      return flag_error(flag, item, "has no task type; it is written type:value");
    }
    if (assignment.target.index && forms != FlagForms::kGeneralTypeOrTask) {
      return flag_error(flag, item, "cannot be given to one task, only to a type");
    }
    auto parsed = parse(value);
    if (!parsed.ok()) return flag_error(flag, item, parsed.error().message);
    assignment.value = std::move(*parsed);
    assignments.push_back(std::move(assignment));
  }
  return assignments;
}

// "ps,chief": for these the field is true.
Result<std::vector<Assignment<FieldValue>>> parse_types(std::string_view flag,
                                                        const std::vector<std::string>& texts) {
  std::vector<Assignment<FieldValue>> assignments;
  for (const std::string& item : items_of(texts)) {
    auto type = parse_type(item);
    if (!type.ok()) return flag_error(flag, item, type.error().message);
    assignments.push_back({{std::move(*type), std::nullopt}, true, item});
  }
  return assignments;
}

// Whoever fills Flags may have misspelt one.
template <typename Owner, typename Given>
Result<> check_paths(const Given& given, const std::vector<FieldAt<Owner>>& fields) {
  for (const auto& [path, texts] : given) {
    const bool is_known = std::any_of(fields.begin(), fields.end(), [&p = path](const auto& field) {
      return field.path == p && !field.row->info.flag.names.empty();
    });
    if (!is_known) return base::internal(base::format("no flag gives the field '{}'", path));
  }
  return {};
}

Result<std::vector<FieldAssignments>> parse_fields(const Flags& flags) {
  GANGRUN_TRY(check_paths(flags.fields, plain_task_fields()));
  std::vector<FieldAssignments> fields;
  for (const TaskField& field : plain_task_fields()) {
    const auto given = flags.fields.find(field.path);
    if (given == flags.fields.end() || given->second.empty()) continue;
    const FieldInfo& info = field.row->info;
    const std::string_view flag = name_of(info.flag);
    FieldAssignments& parsed = fields.emplace_back();
    parsed.field = &field;
    if (info.flag.forms == FlagForms::kTypes) {
      GANGRUN_ASSIGN(parsed.assignments, parse_types(flag, given->second));
    } else {
      GANGRUN_ASSIGN(parsed.assignments, parse_assignments<FieldValue>(
                                             flag, given->second, info.flag.forms,
                                             [&](auto text) { return parse_value(info, text); }));
    }
  }
  return fields;
}

Result<std::vector<std::pair<std::string, int>>> parse_roles(
    const std::vector<std::string>& texts) {
  std::vector<std::pair<std::string, int>> roles;
  for (const std::string& item : items_of(texts)) {
    const std::size_t colon = item.find(':');
    auto type = parse_type(std::string_view(item).substr(0, colon));
    if (!type.ok()) {
      // A name with a number is written so elsewhere.
      const std::size_t equals = item.find('=');
      if (equals != std::string::npos && job::is_valid_type_name(item.substr(0, equals))) {
        return flag_error("-r", item, "has '='; it is written type:number, for example worker:2");
      }
      if (job::parse_count(item, 1, job::kMaxTasks).ok()) {
        return flag_error("-r", item, base::format("has no task type; use -r worker:{}", item));
      }
      return flag_error("-r", item, type.error().message + ", then ':' and how many");
    }
    int count = 1;
    if (colon != std::string::npos) {
      const auto parsed =
          job::parse_count(std::string_view(item).substr(colon + 1), 1, job::kMaxTasks);
      if (!parsed.ok()) return flag_error("-r", item, parsed.error().message);
      count = *parsed;
    }
    const bool is_known = std::any_of(roles.begin(), roles.end(),
                                      [&](const auto& role) { return role.first == *type; });
    if (is_known) return flag_error("-r", item, "this type is given twice");
    if (roles.size() == static_cast<std::size_t>(job::kMaxTaskTypes)) {
      return flag_error("-r", item, base::format("more than {} task types", job::kMaxTaskTypes));
    }
    roles.emplace_back(std::move(*type), count);
  }
  return roles;
}

Result<std::vector<Assignment<Variable>>> parse_env(const std::vector<std::string>& texts) {
  std::vector<Assignment<Variable>> variables;
  for (const std::string& text : texts) {
    Assignment<Variable> assignment;
    assignment.text = text;
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos) {
      return flag_error("-e", text, "has no '='; it is written NAME=value or type:NAME=value");
    }
    std::string name = text.substr(0, equals);
    const std::size_t colon = name.find(':');
    if (colon != std::string::npos) {
      auto type = parse_type(std::string_view(name).substr(0, colon));
      if (!type.ok()) return flag_error("-e", text, type.error().message);
      assignment.target.type = std::move(*type);
      name.erase(0, colon + 1);
    }
    if (auto valid = check_variable_name(name); !valid.ok()) {
      return flag_error("-e", text, valid.error().message);
    }
    assignment.value = {std::move(name), text.substr(equals + 1)};
    variables.push_back(std::move(assignment));
  }
  return variables;
}

Result<std::map<std::string, FieldValue>> parse_timeouts(const std::vector<std::string>& texts) {
  std::map<std::string, FieldValue> timeouts;
  for (const std::string& item : items_of(texts)) {
    const std::size_t equals = item.find('=');
    if (equals == std::string::npos) {
      return flag_error("--timeout", item,
                        "has no '='; it is written name=time, for example job=2h");
    }
    const std::string name = item.substr(0, equals);
    const auto* row = find_row(timeouts_fields(), name);
    if (row == nullptr) {
      return flag_error("--timeout", item,
                        job::not_one_of(name, "a time limit", keys_of(timeouts_fields())).message);
    }
    auto value = parse_value(row->info, std::string_view(item).substr(equals + 1));
    if (!value.ok()) return flag_error("--timeout", item, value.error().message);
    timeouts[name] = std::move(*value);
  }
  return timeouts;
}

Result<job::Restarts> parse_restarts(std::string_view text) {
  job::Restarts restarts;
  const std::size_t colon = text.find(':');
  const auto max = job::parse_count(text.substr(0, colon), 0, job::kMaxRestarts);
  if (!max.ok()) {
    return base::invalid_argument(
        base::format("--restarts: {}, or number:scope, for example 3:gang", max.error().message));
  }
  restarts.max = *max;
  if (colon != std::string_view::npos) {
    GANGRUN_ASSIGN(
        restarts.scope,
        job::choice_from<job::RestartScope>(text.substr(colon + 1)).context("--restarts"));
  }
  return restarts;
}

// "2s" or "2s:5min".
Result<> parse_restart_pause(std::string_view text, ParsedFlags& parsed) {
  const std::size_t colon = text.find(':');
  const auto pause = job::parse_duration(text.substr(0, colon));
  if (!pause.ok()) {
    return base::invalid_argument(base::format(
        "--restart-pause: {}, or pause:longest, for example 2s:5min", pause.error().message));
  }
  parsed.pause = *pause;
  if (colon == std::string_view::npos) return {};
  GANGRUN_ASSIGN(parsed.max_pause,
                 job::parse_duration(text.substr(colon + 1)).context("--restart-pause"));
  return {};
}

// "yarn.io/fpga=1".
Result<OtherResource> parse_other_resource(std::string_view text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos) {
    return base::invalid_argument(
        "has no '='; it is written NAME=number, type:NAME=number or type[index]:NAME=number");
  }
  OtherResource other;
  other.name = text.substr(0, equals);
  GANGRUN_TRY(check_resource_name(other.name));
  GANGRUN_ASSIGN(other.amount, parse_resource_amount(text.substr(equals + 1)));
  return other;
}

Result<> parse_job_fields(const Flags& flags, const std::vector<JobField>& fields,
                          ParsedFlags& parsed) {
  GANGRUN_TRY(check_paths(flags.job_fields, fields));
  GANGRUN_TRY(check_paths(flags.job_lists, fields));
  GANGRUN_TRY(check_paths(flags.job_switches, fields));
  for (const JobField& field : fields) {
    const FieldInfo& info = field.row->info;
    if (const auto given = flags.job_fields.find(field.path);
        given != flags.job_fields.end() && given->second) {
      GANGRUN_ASSIGN(auto value, parse_value(info, *given->second).context(name_of(info.flag)));
      parsed.job_fields.emplace_back(&field, std::move(value));
    }
    if (const auto given = flags.job_switches.find(field.path);
        given != flags.job_switches.end() && given->second) {
      parsed.job_fields.emplace_back(&field, true);
    }
    if (const auto given = flags.job_lists.find(field.path);
        given != flags.job_lists.end() && !given->second.empty()) {
      const bool at_commas = info.flag.forms == FlagForms::kItems;
      parsed.job_lists.emplace_back(&field, at_commas ? items_of(given->second) : given->second);
    }
  }
  return {};
}

// The flags of task types.
Result<> parse_task_flags(const Flags& flags, ParsedFlags& parsed) {
  GANGRUN_ASSIGN(parsed.roles, parse_roles(flags.roles));
  GANGRUN_ASSIGN(parsed.fields, parse_fields(flags));
  GANGRUN_ASSIGN(parsed.ports, parse_assignments<PortsGiven>(
                                   "--ports", flags.ports, FlagForms::kGeneralOrType, parse_ports));
  GANGRUN_ASSIGN(parsed.others, parse_assignments<OtherResource>("--resource", flags.resources,
                                                                 FlagForms::kGeneralTypeOrTask,
                                                                 parse_other_resource));
  GANGRUN_ASSIGN(parsed.env, parse_env(flags.env));
  return {};
}

}  // namespace

base::Error flag_error(std::string_view flag, std::string_view item, std::string_view text) {
  return base::invalid_argument(base::format("{}: {}: {}", flag, job::in_quotes(item), text));
}

Result<ParsedFlags> parse_flags(const Flags& flags, const std::vector<JobField>& job_fields) {
  ParsedFlags parsed;
  GANGRUN_TRY(parse_task_flags(flags, parsed));
  GANGRUN_ASSIGN(parsed.timeouts, parse_timeouts(flags.timeouts));
  if (flags.framework) {
    GANGRUN_ASSIGN(parsed.frameworks,
                   job::frameworks_from(items_of({*flags.framework})).context("--framework"));
  }
  if (flags.restarts) {
    GANGRUN_ASSIGN(parsed.restarts, parse_restarts(*flags.restarts));
  }
  if (flags.restart_pause) GANGRUN_TRY(parse_restart_pause(*flags.restart_pause, parsed));
  if (!flags.hosts.empty()) {
    GANGRUN_ASSIGN(parsed.hosts, jobfile::hosts_from(items_of(flags.hosts)).context("--hosts"));
  }
  if (!flags.zookeeper.empty()) parsed.zookeeper_hosts = items_of(flags.zookeeper);
  GANGRUN_TRY(parse_job_fields(flags, job_fields, parsed));
  return parsed;
}

}  // namespace gangrun::jobfile
