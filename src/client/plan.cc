#include "client/plan.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <map>
#include <string_view>

#include "base/format.h"
#include "base/strings.h"
#include "client/plan_sources.h"
#include "client/text.h"
#include "frameworks/environment.h"
#include "job/units.h"
#include "jobfile/container.h"
#include "jobfile/hosts.h"
#include "jobfile/job_fields.h"
#include "jobfile/plan_json.h"
#include "jobfile/task_fields.h"
#include "process/levels.h"

namespace gangrun::client {

namespace {

using base::Json;

// How the held port's socket is handed on (docs/variables.md).
constexpr std::array<std::string_view, 3> kSocketVariables = {"LISTEN_FDNAMES", "LISTEN_FDS",
                                                              "LISTEN_PID"};

// The address of every task before it has one: which variables there are does not depend on it.
constexpr std::uint16_t kAnyPort = 1;
constexpr const char* kAnyFile = "file";

job::ClusterSpec imagined_cluster(const job::JobSpec& spec) {
  job::ClusterSpec cluster;
  cluster.generation = 1;
  for (const job::TaskSpec& task : spec.tasks) {
    cluster.tasks[task.type].assign(static_cast<std::size_t>(task.instances),
                                    job::Address{"host", kAnyPort});
  }
  return cluster;
}

// The task's own variables win over the job's.
std::map<std::string, std::string> own_environment(const job::JobSpec& spec,
                                                   const job::TaskSpec& task) {
  std::map<std::string, std::string> environment = task.environment;
  environment.insert(spec.environment.begin(), spec.environment.end());
  return environment;
}

std::string where_tasks_work(const Plan& plan) {
  return plan.where_tasks_work.empty() ? plan.working_folder : plan.where_tasks_work;
}

Json task_json(const Plan& plan, const job::TaskSpec& task, int index,
               const std::vector<std::string>& variables) {
  const job::Resources resources = task.resources_of(index);
  Json json = {{"task", job::to_string(job::TaskId{task.type, index})},
               {"policy", job::to_string(job::effective_policy(plan.spec, task))},
               {"processes", task.processes},
               {"memory", job::memory_text(resources.memory_mib)},
               {"vcores", resources.vcores},
               {"gpus", resources.gpus},
               {"command", plan.spec.command_of(task).argv()}};
  Json environment = Json::object();
  for (const auto& [name, value] : own_environment(plan.spec, task)) environment[name] = value;
  json["env"] = std::move(environment);
  json["variables"] = variables;
  json["log"] = base::format("{}/logs/{}-{}", plan.job_folder, task.type, index);
  return json;
}

// The task's other wishes for a cluster's nodes.
std::string placement_words(const job::TaskSpec& task) {
  std::vector<std::string> words;
  if (task.label) words.push_back(task.label->empty() ? "no label" : "label " + *task.label);
  if (task.one_per_node) words.emplace_back("one on a node");
  return base::format("{}", base::join(words, ", "));
}

std::string ports_words(const job::Ports& ports) {
  std::string words = count_text(ports.count, "port");
  if (!ports.names.empty()) words += base::format(" ({})", base::join(ports.names, ", "));
  return base::format("{}, held {}", words, job::to_string(ports.hold));
}

void add_field(Lines& lines, std::string_view name, const std::string& value) {
  lines.push_back(Line(base::format("  {:<13} ", name), Paint::kDim).add(harmless_sentence(value)));
}

std::string how_images_run(const Plan& plan) {
  std::string words = plan.image_runner;
  std::vector<std::string> mounts;
  for (const job::Mount& mount : plan.spec.mounts) mounts.push_back(jobfile::to_string(mount));
  if (!mounts.empty()) words += base::format("; it sees {}", base::join(mounts, ", "));
  return words;
}

// The name of a field in a line: "log limit" for log_limit.
std::string in_words(std::string name) {
  std::ranges::replace_if(
      name, [](char c) { return c == '_' || c == '.'; }, ' ');
  return name;
}

// The values that no line above tells, where they are not as they are by default.
void add_other_fields(const job::JobSpec& spec, Lines& lines) {
  for (const jobfile::JobField& field : jobfile::plain_job_fields()) {
    const jobfile::FieldInfo& info = field.row->info;
    if (field.row->get == nullptr || info.has_own_words) continue;
    if (jobfile::has_default(*field.row, spec)) continue;
    add_field(lines, in_words(field.path), jobfile::text_of(info, field.row->get(spec)));
  }
}

base::Result<> add_task_type(const Plan& plan, const job::TaskSpec& task, Lines& lines) {
  GANGRUN_ASSIGN(const auto variables, variable_names(plan.spec, task));
  lines.emplace_back("");
  Line title(task.type, Paint::kBold);
  title.add(base::format("  {} ({})", count_text(task.instances, "task"),
                         job::to_string(job::effective_policy(plan.spec, task))));
  lines.push_back(std::move(title));
  add_field(lines, "resources", resources_words(task.resources, plan.no_memory));
  for (const auto& [index, own] : task.overrides) {
    add_field(lines, base::format("{}:{}", task.type, index),
              resources_words(task.resources_of(index), plan.no_memory));
  }
  if (const std::string placement = placement_words(task); !placement.empty()) {
    add_field(lines, "placed", placement);
  }
  if (task.min_instances) {
    add_field(lines, "at least", count_text(*task.min_instances, "task"));
  }
  for (const jobfile::TaskField& field : jobfile::plain_task_fields()) {
    const jobfile::FieldInfo& info = field.row->info;
    if (info.has_own_words || jobfile::has_default(*field.row, task)) continue;
    add_field(lines, in_words(std::string(info.key)), jobfile::text_of(info, field.row->get(task)));
  }
  if (task.ports != job::Ports{}) add_field(lines, "ports", ports_words(task.ports));
  if (const std::string& image = plan.spec.image_of(task); !image.empty()) {
    add_field(lines, "image", base::format("{}, {}", image, how_images_run(plan)));
  }
  add_field(lines, "command", plan.spec.command_of(task).to_string());
  for (const auto& [name, value] : own_environment(plan.spec, task)) {
    add_field(lines, "env", base::format("{}={}", name, base::shell_quote(value)));
  }
  add_field(lines, "variables", base::format("{}", base::join(variables, " ")));
  return {};
}

}  // namespace

std::string resources_words(const job::Resources& resources, const std::string& no_memory) {
  std::string words =
      resources.memory_mib == 0 ? no_memory : job::memory_text(resources.memory_mib) + " of memory";
  words += base::format(", {}", count_text(resources.vcores, "vcore"));
  if (resources.gpus > 0) words += base::format(", {}", count_text(resources.gpus, "GPU"));
  for (const auto& [name, count] : resources.others) words += base::format(", {} {}", count, name);
  return words;
}

std::string uncovered_by(job::Containment level) {
  std::string others = "what somebody else started on a task's behalf (a container engine, cron)";
  switch (level) {
    case job::Containment::kPidNamespace: return others;
    case job::Containment::kCgroup:
      return "daemons of a task whose agent and guardian are both killed at the same instant; " +
             others;
    case job::Containment::kSubreaper:
    case job::Containment::kAuto:
      return "daemons of a task whose agent and guardian are both killed at the same instant; "
             "processes of another user (setuid); " +
             others;
  }
  return others;
}

std::string noticed_at(job::Containment level) {
  const auto known = process::level_from_string(job::to_string(level));
  std::string_view more = "what the level of each host changes (docs/job.md, What programs notice)";
  if (known) more = process::what_programs_notice(*known, ::geteuid() != 0);
  return base::format("{}{}{}", process::kNoticedAtAnyLevel, more.empty() ? "" : "; ", more);
}

base::Result<std::vector<std::string>> variable_names(const job::JobSpec& spec,
                                                      const job::TaskSpec& task) {
  const job::ClusterSpec cluster = imagined_cluster(spec);
  const bool needs_rendezvous = frameworks::needs_rendezvous(spec, {task.type, 0});
  const frameworks::Inputs inputs{
      .job = spec,
      .cluster = cluster,
      .job_id = spec.name,
      .cluster_spec_file = kAnyFile,
      .notice_file = kAnyFile,
      .result_file = kAnyFile,
      .figures_file = kAnyFile,
      .keys_address = "127.0.0.1:1",
      .more_ports = std::vector<std::uint16_t>(task.ports.count - 1U, kAnyPort),
      .rendezvous_port = needs_rendezvous ? std::optional(kAnyPort) : std::nullopt,
      .interface = needs_rendezvous ? "lo" : ""};
  GANGRUN_ASSIGN(const auto environment,
                 frameworks::environment_of(inputs, job::TaskId{task.type, 0}, 0));
  std::vector<std::string> names;
  for (const auto& [name, value] : environment.variables) names.push_back(name);
  if (task.ports.hold == job::Hold::kUntilBind && spec.image_of(task).empty()) {
    names.insert(names.end(), kSocketVariables.begin(), kSocketVariables.end());
  }
  if (task.resources.gpus > 0) names.emplace_back("CUDA_VISIBLE_DEVICES");
  std::sort(names.begin(), names.end());
  return names;
}

base::Result<Json> plan_json(const Plan& plan) {
  Json tasks = Json::array();
  for (const job::TaskSpec& task : plan.spec.tasks) {
    GANGRUN_ASSIGN(const auto variables, variable_names(plan.spec, task));
    for (int index = 0; index < task.slots(); ++index) {
      tasks.push_back(task_json(plan, task, index, variables));
    }
  }
  return Json{{"job", jobfile::to_json(plan.spec)},
              {"sources", sources_json(plan.spec, plan.sources)},
              {"defaults_left_out", left_out_json(plan.sources)},
              {"place", plan.spec.on},
              {"host", plan.host},
              {"working_folder", plan.working_folder},
              {"where_tasks_work", where_tasks_work(plan)},
              {"job_folder", plan.job_folder},
              {"containment",
               {{"level", job::to_string(plan.containment)},
                {"not_covered", uncovered_by(plan.containment)},
                {"noticed", noticed_at(plan.containment)}}},
              {"tasks", std::move(tasks)}};
}

base::Result<Lines> plan_lines(const Plan& plan) {
  const job::JobSpec& spec = plan.spec;
  Lines lines = {Line(base::format("{}: {} on {}; nothing is started", spec.name,
                                   count_text(spec.task_count(), "task"), spec.on),
                      Paint::kBold)};
  add_field(lines, "works in", where_tasks_work(plan));
  add_field(lines, "keeps in", plan.job_folder);
  if (!spec.hosts.empty()) {
    std::vector<std::string> hosts;
    for (const job::Host& host : spec.hosts) hosts.push_back(jobfile::to_string(host));
    add_field(lines, "hosts", base::format("{}", base::join(hosts, ", ")));
  }
  if (!spec.interface.empty()) add_field(lines, "interface", spec.interface);
  add_field(lines, "contained by", std::string(job::to_string(plan.containment)));
  add_field(lines, "not covered", uncovered_by(plan.containment));
  add_field(lines, "noticed", noticed_at(plan.containment));
  add_field(lines, "success", spec.success);
  add_field(lines, "restarts",
            base::format("{} of scope {}", spec.restarts.max, job::to_string(spec.restarts.scope)));
  for (const auto& [name, value] : plan.more) add_field(lines, name, value);
  add_field(lines, "time limits",
            base::format("allocation {}, roll call {}, job {}, stop {}, shrink {}",
                         job::duration_text(spec.timeouts.allocation),
                         job::duration_text(spec.timeouts.roll_call),
                         spec.timeouts.job.count() == 0 ? std::string("none")
                                                        : job::duration_text(spec.timeouts.job),
                         job::duration_text(spec.timeouts.stop),
                         job::duration_text(spec.timeouts.shrink)));
  add_other_fields(spec, lines);
  for (const std::string& file : spec.files) add_field(lines, "file", file);
  for (const job::TaskSpec& task : spec.tasks) GANGRUN_TRY(add_task_type(plan, task, lines));
  Lines sources = sources_lines(spec, plan.sources);
  std::move(sources.begin(), sources.end(), std::back_inserter(lines));
  return lines;
}

}  // namespace gangrun::client
