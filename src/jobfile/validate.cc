#include "jobfile/validate.h"

#include <algorithm>
#include <numeric>
#include <set>

#include "base/format.h"
#include "base/letters.h"
#include "base/strings.h"
#include "job/choice.h"
#include "job/limits.h"
#include "job/spec_names.h"
#include "job/task_id.h"
#include "job/units.h"
#include "jobfile/checks.h"
#include "jobfile/container.h"
#include "jobfile/hosts.h"
#include "jobfile/job_fields.h"
#include "jobfile/ports.h"
#include "jobfile/resources.h"
#include "jobfile/shipped_files.h"
#include "jobfile/task_fields.h"
#include "jobfile/zookeeper.h"

namespace gangrun::jobfile {

namespace {

std::string indexes_text(const job::TaskSpec& task) {
  if (task.slots() == 1) return "one task, with index 0";
  return base::format("{} tasks{}, with indexes 0 to {}", task.slots(),
                      task.spares == 0 ? "" : " with its spares", task.slots() - 1);
}

Found check_environment(const std::map<std::string, std::string>& environment,
                        const std::string& path) {
  if (auto found =
          check_count(environment.size(), job::kMaxEnvironmentVariables, "variables", path))
    return found;
  for (const auto& [name, value] : environment) {
    if (auto valid = check_variable_name(name); !valid.ok()) {
      return Problem{path, valid.error().message};
    }
    const std::string own_path = base::format("{}.{}", path, name);
    if (auto found = check_bytes(value, own_path)) return found;
  }
  return std::nullopt;
}

Found check_command(const job::Command& command, const std::string& path) {
  if (auto found = check_count(command.words.size(), job::kMaxCommandWords, "words", path))
    return found;
  if (!command.words.empty() && !command.shell_line.empty()) {
    return Problem{path, "is both words and a line for the shell"};
  }
  const bool is_blank = command.words.empty() ? base::trim(command.shell_line).empty()
                                              : base::trim(command.words.front()).empty();
  if (is_blank) return Problem{path, "the command is empty"};
  for (const std::string& word : command.words) {
    if (auto found = check_bytes(word, path)) return found;
  }
  return check_bytes(command.shell_line, path);
}

Found check_others(const job::Resources& resources, const std::string& path) {
  const std::string others_path = path + ".resources";
  if (auto found =
          check_count(resources.others.size(), job::kMaxOtherResources, "resources", others_path))
    return found;
  for (const auto& [name, amount] : resources.others) {
    if (auto valid = check_resource_name(name); !valid.ok()) {
      return Problem{others_path, valid.error().message};
    }
    const std::string own_path = base::format("{}.{}", others_path, name);
    if (auto found = check_range(amount, 0, job::kMaxResourceAmount, own_path)) return found;
  }
  return std::nullopt;
}

Found check_overrides(const job::TaskSpec& task, const std::string& path) {
  for (const auto& [index, own] : task.overrides) {
    const std::string own_path = base::format("{}.overrides.{}", path, index);
    if (index < 0 || index >= task.slots()) {
      return Problem{own_path, base::format("there is no {}:{}; {} has {}", task.type, index,
                                            task.type, indexes_text(task))};
    }
    for (const auto& row : override_fields()) {
      if (row.info.kind == FieldKind::kOwn) continue;
      const std::string field_path = base::format("{}.{}", own_path, row.info.key);
      if (auto found = check_value(row.info, row.get(own), field_path)) return found;
    }
    if (auto found = check_others(task.resources_of(index), own_path)) return found;
  }
  return std::nullopt;
}

Found check_type_name(const std::string& type, const std::string& path) {
  if (!job::is_valid_type_name(type)) {
    return Problem{"tasks", base::format("{} is not a task type; allowed: {}", job::in_quotes(type),
                                         job::kTypeNameForm)};
  }
  if (type == "all") return Problem{path, "'all' cannot be a task type; `success: all` needs it"};
  return std::nullopt;
}

Found check_min_instances(const job::TaskSpec& task, const std::string& path) {
  if (!task.min_instances) return std::nullopt;
  auto found = check_range(*task.min_instances, 1, task.instances, path + ".min_instances");
  if (found) found->text += ", its instances";
  return found;
}

Found check_ports(const job::Ports& ports, const std::string& path) {
  if (ports.names.empty()) return std::nullopt;
  if (ports.names.size() != static_cast<std::size_t>(ports.count)) {
    return Problem{path + ".n", base::format("{} is not the number of the names, {}; allowed: "
                                             "either n or names, or as many names as n",
                                             ports.count, ports.names.size())};
  }
  std::map<std::string, std::string> variables;
  for (const std::string& name : ports.names) {
    if (auto valid = check_port_name(name); !valid.ok()) {
      return Problem{path + ".names", valid.error().message};
    }
    const auto [other, is_free] = variables.emplace(job::port_variable(name), name);
    if (is_free) continue;
    return Problem{path + ".names", base::format("'{}' and '{}' would both be {}; allowed: names "
                                                 "that differ in more than case, '_' and '-'",
                                                 other->second, name, other->first)};
  }
  return std::nullopt;
}

Found check_task(const job::JobSpec& job, const job::TaskSpec& task) {
  const std::string path = "tasks." + task.type;
  if (auto found = check_type_name(task.type, path)) return found;
  if (auto found = check_task_fields(job, task, path)) return found;
  if (auto found = check_ports(task.ports, path + ".ports")) return found;
  if (auto found = check_min_instances(task, path)) return found;
  if (auto found = check_others(task.resources, path)) return found;
  if (auto found = check_overrides(task, path)) return found;
  if (auto found = check_archives(task.archives, path + ".archives")) return found;
  if (auto found = check_environment(task.environment, path + ".env")) return found;
  if (!task.command.empty()) return check_command(task.command, path + ".command");
  if (job.command.empty()) {
    return Problem{path, base::format("{} has no command; write it after --, or as `command` "
                                      "in the job file",
                                      task.type)};
  }
  return std::nullopt;
}

Found check_tasks(const job::JobSpec& job) {
  if (job.tasks.empty()) return Problem{"tasks", "a job needs at least one task"};
  if (auto found = check_count(job.tasks.size(), job::kMaxTaskTypes, "task types", "tasks"))
    return found;
  std::set<std::string> types;
  std::size_t tasks = 0;
  std::size_t processes = 0;
  for (const job::TaskSpec& task : job.tasks) {
    if (!types.insert(task.type).second) {
      return Problem{"tasks." + task.type, "this task type is given twice"};
    }
    if (auto found = check_task(job, task)) return found;
    tasks += static_cast<std::size_t>(task.slots());
    processes += static_cast<std::size_t>(std::int64_t{task.instances} * task.processes);
  }
  if (auto found = check_count(tasks, job::kMaxTasks, "tasks", "tasks")) return found;
  return check_count(processes, job::kMaxProcesses, "processes of all tasks", "tasks");
}

Found check_success(const job::JobSpec& job) {
  std::vector<std::string> allowed;
  for (const job::TaskSpec& task : job.tasks) {
    if (job::effective_policy(job, task) == job::Policy::kTracked) allowed.push_back(task.type);
  }
  if (allowed.empty()) {
    return Problem{"tasks",
                   "nothing decides how this job ends: it needs a task with the policy "
                   "tracked or observer beside services and sidecars"};
  }
  allowed.insert(allowed.begin(), "all");
  if (std::find(allowed.begin(), allowed.end(), job.success) != allowed.end()) return std::nullopt;
  return Problem{"success",
                 job::not_one_of(job.success, "a tracked task type of this job", allowed).message};
}

Found check_frameworks(const job::JobSpec& job) {
  if (!job.frameworks) return std::nullopt;
  std::set<job::Framework> seen;
  for (const job::Framework framework : *job.frameworks) {
    if (!seen.insert(framework).second) {
      return Problem{"framework", base::format("'{}' is named twice", to_string(framework))};
    }
  }
  return std::nullopt;
}

Found check_restarts(const job::Restarts& restarts) {
  if (restarts.scope == job::RestartScope::kNone && restarts.max != 0) {
    return Problem{"restarts",
                   base::format("scope 'none' and max {} contradict each other", restarts.max)};
  }
  if (restarts.max_pause >= restarts.pause) return std::nullopt;
  return Problem{
      "restarts.max_pause",
      base::format("'{}' is not allowed; allowed: no less than restarts.pause, {}",
                   job::duration_text(restarts.max_pause), job::duration_text(restarts.pause))};
}

Found check_files(const std::vector<std::string>& files) {
  if (auto found = check_count(files.size(), job::kMaxFiles, "files", "files")) return found;
  for (std::size_t i = 0; i < files.size(); ++i) {
    const std::string path = base::format("files.{}", i);
    if (files[i].empty()) return Problem{path, "the path is empty"};
    if (auto found = check_path_or_url(files[i], path)) return found;
  }
  return std::nullopt;
}

Found check_name(const std::string& name, const std::string& path) {
  const bool fits = !name.empty() && name.size() <= job::kMaxNameBytes &&
                    base::is_letter_or_digit(name.front()) &&
                    base::is_of_letters_digits_and(name, "._-");
  if (fits) return std::nullopt;
  return Problem{path, base::format("{} is not a name; allowed: a letter or digit, then at most {} "
                                    "letters, digits, '.', '_' or '-'",
                                    job::in_quotes(name), job::kMaxNameBytes - 1)};
}

// How many tasks must have room at once. Where there are several types all of them, with their
// spares: one that the gang can do without may have taken the slot of one that it cannot.
int slots_needed(const job::JobSpec& job) {
  if (job.tasks.size() == 1) return job.tasks.front().needed();
  return std::accumulate(job.tasks.begin(), job.tasks.end(), 0,
                         [](int sum, const job::TaskSpec& task) { return sum + task.slots(); });
}

Found check_hosts(const job::JobSpec& job) {
  if (job.hosts.empty()) return std::nullopt;
  if (auto found = check_count(job.hosts.size(), job::kMaxHosts, "hosts", "hosts")) return found;
  std::set<std::string> names;
  std::int64_t slots = 0;
  bool unlimited = false;
  for (const job::Host& host : job.hosts) {
    if (const auto name = jobfile::check_host_name(host.name); !name.ok()) {
      return Problem{"hosts", name.error().message};
    }
    if (!names.insert(host.name).second) {
      return Problem{"hosts", base::format("{} is named twice", job::in_quotes(host.name))};
    }
    if (auto found = check_range(host.slots.value_or(1), 1, job::kMaxTasks, "hosts." + host.name)) {
      return found;
    }
    slots += host.slots.value_or(0);
    unlimited = unlimited || !host.slots;
  }
  const int needed = slots_needed(job);
  if (unlimited || slots >= needed) return std::nullopt;
  const std::string_view which = needed < job.task_count()   ? " that it needs"
                                 : needed > job.task_count() ? " with their spares"
                                                             : "";
  return Problem{"hosts",
                 base::format("{} slots are fewer than the {} tasks{}; allowed: at least as "
                              "many, or a host without a number, which takes any",
                              slots, needed, which)};
}

}  // namespace

std::optional<Problem> find_problem(const job::JobSpec& spec) {
  if (auto found = check_name(spec.name, "name")) return found;
  if (spec.name == job::kNewestJob) {
    return Problem{"name", base::format("'{}' cannot be a job's name: commands take it for the "
                                        "newest job",
                                        job::kNewestJob)};
  }
  if (!spec.command.empty()) {
    if (auto found = check_command(spec.command, "command")) return found;
  }
  if (auto found = check_environment(spec.environment, "env")) return found;
  if (auto found = check_tasks(spec)) return found;
  if (auto found = check_frameworks(spec)) return found;
  if (auto found = check_success(spec)) return found;
  if (auto found = check_job_fields(spec)) return found;
  if (auto found = check_restarts(spec.restarts)) return found;
  if (auto found = check_files(spec.files)) return found;
  if (auto found = check_archives(spec.archives, "archives")) return found;
  if (auto found = check_image(spec.image, "image")) return found;
  if (auto found = check_mounts(spec.mounts)) return found;
  if (spec.zookeeper) {
    if (auto found = check_zookeeper(*spec.zookeeper)) return found;
  }
  if (auto found = check_name(spec.on, "on")) return found;
  if (auto found = check_hosts(spec)) return found;
  return spec.outputs ? check_outputs(*spec.outputs, "outputs") : std::nullopt;
}

std::optional<Problem> find_problem(const job::JobSpec& spec, const RulesOfPlaces& places) {
  if (auto found = find_problem(spec)) return found;
  return places.check(spec);
}

base::Result<> check_variable_name(std::string_view name) {
  const bool fits = !name.empty() && name.size() <= job::kMaxVariableNameBytes &&
                    !base::is_digit(name.front()) && base::is_of_letters_digits_and(name, "_");
  if (!fits) {
    return base::invalid_argument(base::format(
        "{} is not the name of a variable; allowed: letters, digits and '_', no digit first",
        job::in_quotes(name)));
  }
  if (name.starts_with("GANGRUN_")) {
    return base::invalid_argument(
        base::format("{} is set by gangrun itself, as are all names that begin with GANGRUN_",
                     job::in_quotes(name)));
  }
  return {};
}

base::Result<> validate(const job::JobSpec& spec, const RulesOfPlaces& places) {
  const auto found = find_problem(spec, places);
  if (!found) return {};
  return base::invalid_argument(base::format("{}: {}", found->path, found->text));
}

}  // namespace gangrun::jobfile
