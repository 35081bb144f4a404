#include "job/flags.h"

#include <algorithm>

#include "base/format.h"
#include "base/strings.h"
#include "job/hosts.h"
#include "job/limits.h"
#include "job/ports.h"
#include "job/resources.h"
#include "job/spec_names.h"
#include "job/spec_yaml.h"
#include "job/task_id.h"
#include "job/units.h"
#include "job/validate.h"

namespace gangrun::job {

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

base::Error flag_error(std::string_view flag, std::string_view item, std::string_view text) {
  return base::invalid_argument(base::format("{}: {}: {}", flag, in_quotes(item), text));
}

Result<std::string> parse_type(std::string_view text) {
  if (is_valid_type_name(text)) return std::string(text);
  return base::invalid_argument(
      base::format("{} is not a task type; allowed: {}", in_quotes(text), kTypeNameForm));
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
                     in_quotes(text)));
  }
  const auto index =
      parse_count(text.substr(bracket + 1, text.size() - bracket - 2), 0, kMaxTasks - 1);
  if (!index.ok()) return base::invalid_argument("index " + index.error().message);
  target.index = *index;
  return target;
}

enum class Forms { kTypeOnly, kGeneralOrType, kGeneralTypeOrTask };

// Every item of a flag of the form "value", "type:value" or "type[index]:value".
template <typename T, typename Parse>
Result<std::vector<Assignment<T>>> parse_assignments(std::string_view flag,
                                                     const std::vector<std::string>& texts,
                                                     Forms forms, Parse parse) {
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
    } else if (forms == Forms::kTypeOnly) {
      return flag_error(flag, item, "has no task type; it is written type:value");
    }
    if (assignment.target.index && forms != Forms::kGeneralTypeOrTask) {
      return flag_error(flag, item, "cannot be given to one task, only to a type");
    }
    auto parsed = parse(value);
    if (!parsed.ok()) return flag_error(flag, item, parsed.error().message);
    assignment.value = std::move(*parsed);
    assignments.push_back(std::move(assignment));
  }
  return assignments;
}

auto count_parser(int min, int max) {
  return [min, max](std::string_view text) { return parse_count(text, min, max); };
}

Result<std::vector<std::pair<std::string, int>>> parse_roles(
    const std::vector<std::string>& texts) {
  std::vector<std::pair<std::string, int>> roles;
  for (const std::string& item : items_of(texts)) {
    const std::size_t colon = item.find(':');
    auto type = parse_type(std::string_view(item).substr(0, colon));
    if (!type.ok()) {
      return flag_error("-r", item, type.error().message + ", then ':' and how many");
    }
    int count = 1;
    if (colon != std::string::npos) {
      const auto parsed = parse_count(std::string_view(item).substr(colon + 1), 1, kMaxTasks);
      if (!parsed.ok()) return flag_error("-r", item, parsed.error().message);
      count = *parsed;
    }
    const bool is_known = std::any_of(roles.begin(), roles.end(),
                                      [&](const auto& role) { return role.first == *type; });
    if (is_known) return flag_error("-r", item, "this type is given twice");
    if (roles.size() == static_cast<std::size_t>(kMaxTaskTypes)) {
      return flag_error("-r", item, base::format("more than {} task types", kMaxTaskTypes));
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

Result<TimeoutsDraft> parse_timeouts(const std::vector<std::string>& texts) {
  using Field = std::optional<std::chrono::milliseconds> TimeoutsDraft::*;
  constexpr std::pair<std::string_view, Field> kFields[] = {
      {"allocation", &TimeoutsDraft::allocation},
      {"hold", &TimeoutsDraft::hold},
      {"roll_call", &TimeoutsDraft::roll_call},
      {"job", &TimeoutsDraft::job},
      {"stop", &TimeoutsDraft::stop},
      {"shrink", &TimeoutsDraft::shrink},
      {"master_lost", &TimeoutsDraft::master_lost},
  };
  TimeoutsDraft timeouts;
  for (const std::string& item : items_of(texts)) {
    const std::size_t equals = item.find('=');
    if (equals == std::string::npos) {
      return flag_error("--timeout", item,
                        "has no '='; it is written name=time, for example job=2h");
    }
    const std::string_view name = std::string_view(item).substr(0, equals);
    const auto field = std::find_if(std::begin(kFields), std::end(kFields),
                                    [&](const auto& row) { return row.first == name; });
    if (field == std::end(kFields)) {
      return flag_error("--timeout", item,
                        not_one_of(name, "a time limit", timeouts_keys()).message);
    }
    const auto duration = parse_duration(std::string_view(item).substr(equals + 1));
    if (!duration.ok()) return flag_error("--timeout", item, duration.error().message);
    timeouts.*(field->second) = *duration;
  }
  return timeouts;
}

Result<Restarts> parse_restarts(std::string_view text) {
  Restarts restarts;
  const std::size_t colon = text.find(':');
  const auto max = parse_count(text.substr(0, colon), 0, kMaxRestarts);
  if (!max.ok()) {
    return base::invalid_argument(
        base::format("--restarts: {}, or number:scope, for example 3:gang", max.error().message));
  }
  restarts.max = *max;
  if (colon != std::string_view::npos) {
    auto scope = restart_scope_from(text.substr(colon + 1));
    if (!scope.ok()) return std::move(scope).error().context("--restarts");
    restarts.scope = *scope;
  }
  return restarts;
}

// "2s" or "2s:5min".
Result<> parse_restart_pause(std::string_view text, ParsedFlags& parsed) {
  const std::size_t colon = text.find(':');
  const auto pause = parse_duration(text.substr(0, colon));
  if (!pause.ok()) {
    return base::invalid_argument(base::format(
        "--restart-pause: {}, or pause:longest, for example 2s:5min", pause.error().message));
  }
  parsed.pause = *pause;
  if (colon == std::string_view::npos) return {};
  GANGRUN_ASSIGN(parsed.max_pause,
                 parse_duration(text.substr(colon + 1)).context("--restart-pause"));
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

// What only a cluster has.
Result<> parse_cluster_flags(const Flags& flags, ParsedFlags& parsed) {
  GANGRUN_ASSIGN(parsed.others,
                 parse_assignments<OtherResource>("--resource", flags.resources,
                                                  Forms::kGeneralTypeOrTask, parse_other_resource));
  const auto as_it_is = [](std::string_view text) {
    return Result<std::string>(std::string(text));
  };
  GANGRUN_ASSIGN(parsed.labels, parse_assignments<std::string>("--label", flags.labels,
                                                               Forms::kGeneralOrType, as_it_is));
  for (const std::string& item : items_of(flags.one_per_node)) {
    auto type = parse_type(item);
    if (!type.ok()) return flag_error("--one-per-node", item, type.error().message);
    parsed.one_per_node.push_back(std::move(*type));
  }
  if (flags.priority) {
    GANGRUN_ASSIGN(parsed.yarn.priority,
                   parse_count(*flags.priority, 0, kMaxPriority).context("--priority"));
  }
  if (!flags.tags.empty()) parsed.yarn.tags = items_of(flags.tags);
  if (!flags.file_systems.empty()) parsed.yarn.file_systems = flags.file_systems;
  parsed.yarn.principal = flags.principal;
  parsed.yarn.keytab = flags.keytab;
  parsed.yarn.as = flags.as;
  if (flags.master_memory) {
    GANGRUN_ASSIGN(parsed.yarn.master_memory_mib,
                   parse_memory_mib(*flags.master_memory).context("--master-memory"));
  }
  if (flags.master_vcores) {
    GANGRUN_ASSIGN(
        parsed.yarn.master_vcores,
        parse_count(*flags.master_vcores, 1, kMaxVcoresPerTask).context("--master-vcores"));
  }
  return {};
}

Result<> parse_kubernetes_flags(const Flags& flags, ParsedFlags& parsed) {
  for (const std::string& item : items_of(flags.node_selectors)) {
    const std::size_t equals = item.find('=');
    if (equals == std::string::npos) {
      return flag_error("--node-selector", item, "has no '='; it is written KEY=VALUE");
    }
    parsed.node_selector[item.substr(0, equals)] = item.substr(equals + 1);
  }
  parsed.image_pull_secrets = items_of(flags.image_pull_secrets);
  if (flags.gang_scheduling) {
    GANGRUN_ASSIGN(parsed.gang_scheduling,
                   gang_scheduling_from(*flags.gang_scheduling).context("--gang-scheduling"));
  }
  return {};
}

// What is given for task types.
Result<> parse_task_flags(const Flags& flags, ParsedFlags& parsed) {
  GANGRUN_ASSIGN(parsed.roles, parse_roles(flags.roles));
  GANGRUN_ASSIGN(parsed.memory,
                 parse_assignments<std::int64_t>("-m", flags.memory, Forms::kGeneralTypeOrTask,
                                                 parse_memory_mib));
  GANGRUN_ASSIGN(parsed.vcores,
                 parse_assignments<int>("-c", flags.vcores, Forms::kGeneralTypeOrTask,
                                        count_parser(0, kMaxVcoresPerTask)));
  GANGRUN_ASSIGN(parsed.gpus,
                 parse_assignments<int>("--gpus", flags.gpus, Forms::kGeneralTypeOrTask,
                                        count_parser(0, kMaxGpusPerTask)));
  GANGRUN_ASSIGN(parsed.processes,
                 parse_assignments<int>("--processes", flags.processes, Forms::kGeneralOrType,
                                        count_parser(1, kMaxProcessesPerTask)));
  GANGRUN_ASSIGN(parsed.ports, parse_assignments<PortsDraft>("--ports", flags.ports,
                                                             Forms::kGeneralOrType, parse_ports));
  GANGRUN_ASSIGN(parsed.holds,
                 parse_assignments<Hold>("--hold", flags.holds, Forms::kGeneralOrType, hold_from));
  GANGRUN_ASSIGN(parsed.min_instances,
                 parse_assignments<int>("--min-instances", flags.min_instances, Forms::kTypeOnly,
                                        count_parser(1, kMaxTasks)));
  GANGRUN_ASSIGN(parsed.spares, parse_assignments<int>("--spares", flags.spares, Forms::kTypeOnly,
                                                       count_parser(0, kMaxTasks)));
  GANGRUN_ASSIGN(parsed.env, parse_env(flags.env));
  GANGRUN_ASSIGN(parsed.policies, parse_assignments<Policy>("--policy", flags.policies,
                                                            Forms::kTypeOnly, policy_from));
  GANGRUN_ASSIGN(parsed.graces, parse_assignments<std::chrono::milliseconds>(
                                    "--grace", flags.graces, Forms::kTypeOnly, parse_duration));
  GANGRUN_ASSIGN(parsed.exposes, parse_assignments<Expose>("--expose", flags.exposes,
                                                           Forms::kTypeOnly, expose_from));
  return {};
}

}  // namespace

Result<ParsedFlags> parse_flags(const Flags& flags) {
  ParsedFlags parsed;
  GANGRUN_TRY(parse_task_flags(flags, parsed));
  GANGRUN_ASSIGN(parsed.timeouts, parse_timeouts(flags.timeouts));
  if (flags.framework) {
    GANGRUN_ASSIGN(parsed.frameworks,
                   frameworks_from(items_of({*flags.framework})).context("--framework"));
  }
  if (flags.restarts) {
    GANGRUN_ASSIGN(parsed.restarts, parse_restarts(*flags.restarts));
  }
  if (flags.restart_pause) GANGRUN_TRY(parse_restart_pause(*flags.restart_pause, parsed));
  if (flags.containment) {
    GANGRUN_ASSIGN(parsed.containment,
                   containment_from(*flags.containment).context("--containment"));
  }
  if (flags.stop_signal) {
    GANGRUN_ASSIGN(parsed.stop_signal,
                   stop_signal_from(*flags.stop_signal).context("--stop-signal"));
  }
  if (flags.stop_signal_to) {
    GANGRUN_ASSIGN(parsed.stop_signal_to,
                   stop_signal_to_from(*flags.stop_signal_to).context("--stop-signal-to"));
  }
  if (flags.interface) {
    GANGRUN_ASSIGN(parsed.interface, parse_interface(*flags.interface).context("--interface"));
  }
  if (!flags.hosts.empty()) {
    GANGRUN_ASSIGN(parsed.hosts, hosts_from(items_of(flags.hosts)).context("--hosts"));
  }
  if (!flags.zookeeper.empty()) parsed.zookeeper_hosts = items_of(flags.zookeeper);
  GANGRUN_TRY(parse_cluster_flags(flags, parsed));
  GANGRUN_TRY(parse_kubernetes_flags(flags, parsed));
  return parsed;
}

}  // namespace gangrun::job
