#include "jobfile/job_values.h"

#include <algorithm>
#include <utility>

#include "base/format.h"
#include "job/spec_names.h"
#include "job/task_id.h"
#include "job/units.h"
#include "jobfile/job_fields.h"
#include "jobfile/task_fields.h"
#include "jobfile/zookeeper.h"

namespace gangrun::jobfile {

namespace {

using base::Json;
using base::Result;

// A bare number is `instances`.
Result<> read_task(const Field& field, job::TaskSpec& task) {
  if (field.node.kind != YamlNode::Kind::kScalar) return read_fields(field, task_fields(), task);
  const FieldRow<job::TaskSpec>& instances = *find_row(task_fields(), "instances");
  GANGRUN_ASSIGN(const FieldValue value, read_value(field, instances.info));
  instances.set(task, value);
  field.origins[field.path + ".instances"] = position_text(field.source, field.node.mark);
  return {};
}

}  // namespace

Result<> read_tasks(const Field& field, job::JobSpec& job) {
  if (field.node.kind != YamlNode::Kind::kMap) {
    return field.not_allowed("a map of task types, for example {worker: {instances: 2}}");
  }
  for (std::size_t i = 0; i < field.node.keys.size(); ++i) {
    const YamlNode::Key& key = field.node.keys[i];
    if (!job::is_valid_type_name(key.name)) {
      return field.error_at(key.mark, base::format("{} is not a task type; allowed: {}",
                                                   job::in_quotes(key.name), job::kTypeNameForm));
    }
    job::TaskSpec& task = job.tasks.emplace_back();
    task.type = key.name;
    const Field child = field.child(i, key.name);
    field.origins[child.path] = position_text(field.source, key.mark);
    GANGRUN_TRY(read_task(child, task));
  }
  if (job.tasks.empty()) return field.error("a job needs at least one task");
  return {};
}

Json tasks_json(const job::JobSpec& job, job::PlanForm form) {
  Json tasks = Json::object();
  for (const job::TaskSpec& task : job.tasks) {
    tasks[task.type] = json_of_fields(task_fields(), task, form);
  }
  return tasks;
}

Result<> read_framework(const Field& field, std::optional<std::vector<job::Framework>>& out) {
  std::vector<std::string> names;
  if (field.node.kind == YamlNode::Kind::kList) {
    GANGRUN_ASSIGN(names, read_list(field, "names", "the name of a framework"));
  } else {
    GANGRUN_ASSIGN(names.emplace_back(), read_text(field, "a name, or a list of names"));
  }
  auto frameworks = job::frameworks_from(names);
  if (!frameworks.ok()) return field.error(frameworks.error());
  out = std::move(*frameworks);
  return {};
}

Json frameworks_json(const std::optional<std::vector<job::Framework>>& frameworks) {
  if (!frameworks) return {};
  return frameworks->empty() ? Json("none") : list_json(*frameworks);
}

// A bare number is `max`.
Result<> read_restarts(const Field& field, job::JobSpec& job) {
  if (field.node.kind == YamlNode::Kind::kScalar) {
    const FieldRow<job::JobSpec>& max = *find_row(restarts_fields(), "max");
    GANGRUN_ASSIGN(const FieldValue value, read_value(field, max.info));
    max.set(job, value);
    field.origins[field.path + ".max"] = position_text(field.source, field.node.mark);
  } else {
    GANGRUN_TRY(read_fields(field, restarts_fields(), job));
  }
  // A user who sets a longer one means it.
  job::Restarts& restarts = job.restarts;
  if (std::ranges::find(field.node.keys, "max_pause", &YamlNode::Key::name) ==
      field.node.keys.end()) {
    restarts.max_pause = std::max(restarts.max_pause, restarts.pause);
  }
  return {};
}

Result<> read_hosts(const Field& field, std::vector<job::Host>& out) {
  GANGRUN_ASSIGN(const auto texts,
                 read_list(field, "NAME or NAME:SLOTS", "a host, NAME or NAME:SLOTS"));
  auto hosts = jobfile::hosts_from(texts);
  if (!hosts.ok()) return field.error(hosts.error());
  out = std::move(*hosts);
  return {};
}

Result<> read_mounts(const Field& field, job::JobSpec& job) {
  GANGRUN_ASSIGN(const auto texts, read_list(field, "paths", "PATH or PATH:ro"));
  job.mounts.clear();
  for (const std::string& text : texts) job.mounts.push_back(mount_from(text));
  return {};
}

Result<std::string> take_mount(std::string_view text, job::JobSpec& job) {
  job.mounts.push_back(mount_from(text));
  return std::to_string(job.mounts.size() - 1);
}

Result<> read_zookeeper(const Field& field, std::optional<job::ZooKeeper>& out) {
  if (!out) out.emplace();
  return read_fields(field, zookeeper_fields(), *out);
}

Json zookeeper_json(const std::optional<job::ZooKeeper>& zookeeper, job::PlanForm form) {
  return zookeeper ? json_of_fields(zookeeper_fields(), *zookeeper, form) : Json();
}

Result<> read_readers(const Field& field, bool& is_all) {
  GANGRUN_ASSIGN(const std::string text, read_text(field, "all, job"));
  const auto readers = readers_from(text);
  if (!readers.ok()) return field.error(readers.error());
  is_all = *readers;
  return {};
}

Json readers_json(bool is_all) { return is_all ? "all" : "job"; }

}  // namespace gangrun::jobfile
