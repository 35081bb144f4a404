
#include "base/format.h"
#include "base/json.h"
#include "jobfile/hosts.h"
#include "jobfile/place_rules.h"
#include "jobfile/shipped_files.h"

namespace gangrun::jobfile {

namespace {

using Given = std::optional<Asked>;

std::string path_of(const job::TaskSpec& task, std::string_view field) {
  return base::format("tasks.{}.{}", task.type, field);
}

Given find_archives(const std::map<std::string, std::string>& archives, const std::string& path) {
  if (archives.empty()) return std::nullopt;
  const auto& [folder, source] = *archives.begin();
  return Asked{base::format("{}.{}", path, folder), source};
}

Given find_others(const std::map<std::string, std::int64_t>& others, const std::string& path) {
  if (others.empty()) return std::nullopt;
  const auto& [name, amount] = *others.begin();
  return Asked{base::format("{}.resources.{}", path, name), std::to_string(amount)};
}

Given find_others_of(const job::TaskSpec& task) {
  const std::string path = "tasks." + task.type;
  if (auto found = find_others(task.resources.others, path)) return found;
  for (const auto& [index, own] : task.overrides) {
    if (auto found = find_others(own.others, base::format("{}.overrides.{}", path, index))) {
      return found;
    }
  }
  return std::nullopt;
}

Given find_gpus(const job::TaskSpec& task) {
  if (task.resources.gpus > 0) {
    return Asked{path_of(task, "gpus"), std::to_string(task.resources.gpus)};
  }
  for (const auto& [index, own] : task.overrides) {
    if (own.gpus.value_or(0) == 0) continue;
    return Asked{path_of(task, base::format("overrides.{}.gpus", index)),
                 std::to_string(*own.gpus)};
  }
  return std::nullopt;
}

Given find_in_task(const job::TaskSpec& task, Feature feature) {
  switch (feature) {
    case Feature::kArchives: return find_archives(task.archives, path_of(task, "archives"));
    case Feature::kImages:
      if (!task.image || task.image->empty()) return std::nullopt;
      return Asked{path_of(task, "image"), *task.image};
    case Feature::kGpus: return find_gpus(task);
    case Feature::kOtherResources: return find_others_of(task);
    case Feature::kPods:
      if (task.pod.is_null()) return std::nullopt;
      return Asked{path_of(task, "pod"), base::dump_json(task.pod)};
    case Feature::kLabels:
      if (!task.label) return std::nullopt;
      return Asked{path_of(task, "label"), *task.label};
    case Feature::kOnePerNode:
      if (!task.one_per_node) return std::nullopt;
      return Asked{path_of(task, "one_per_node"), "true"};
    case Feature::kSpares:
      if (task.spares == 0) return std::nullopt;
      return Asked{path_of(task, "spares"), std::to_string(task.spares)};
    case Feature::kSmallerGangs:
      if (task.needed() >= task.instances) return std::nullopt;
      return Asked{path_of(task, "min_instances"), std::to_string(task.needed())};
    case Feature::kOutputs:
      if (!task.outputs || task.outputs->empty()) return std::nullopt;
      return Asked{path_of(task, "outputs"), task.outputs->front()};
    case Feature::kRestarts:
    case Feature::kFiles:
    case Feature::kClusterFiles:
    case Feature::kHosts:
    case Feature::kKeptFolders: break;
  }
  return std::nullopt;
}

Given find_in_job(const job::JobSpec& job, Feature feature) {
  switch (feature) {
    case Feature::kRestarts:
      if (job.restarts.max == 0 || job.restarts.scope == job::RestartScope::kNone)
        return std::nullopt;
      return Asked{"restarts.max", std::to_string(job.restarts.max)};
    case Feature::kFiles:
      if (job.files.empty()) return std::nullopt;
      return Asked{"files", job.files.front()};
    case Feature::kClusterFiles:
      for (std::size_t i = 0; i < job.files.size(); ++i) {
        if (is_cluster_url(job.files[i])) return Asked{base::format("files.{}", i), job.files[i]};
      }
      return std::nullopt;
    case Feature::kArchives: return find_archives(job.archives, "archives");
    case Feature::kImages:
      if (job.image.empty()) return std::nullopt;
      return Asked{"image", job.image};
    case Feature::kHosts:
      if (job.hosts.empty()) return std::nullopt;
      return Asked{"hosts", to_string(job.hosts.front())};
    case Feature::kOutputs:
      if (!job.outputs || job.outputs->empty()) return std::nullopt;
      return Asked{"outputs", job.outputs->front()};
    case Feature::kKeptFolders:
      if (!job.keep_folders) return std::nullopt;
      return Asked{"keep_folders", "true"};
    case Feature::kGpus:
    case Feature::kOtherResources:
    case Feature::kPods:
    case Feature::kLabels:
    case Feature::kOnePerNode:
    case Feature::kSpares:
    case Feature::kSmallerGangs: break;
  }
  return std::nullopt;
}

}  // namespace

std::optional<Asked> find_asked(const job::JobSpec& job, Feature feature) {
  if (auto found = find_in_job(job, feature)) return found;
  for (const job::TaskSpec& task : job.tasks) {
    if (auto found = find_in_task(task, feature)) return found;
  }
  return std::nullopt;
}

}  // namespace gangrun::jobfile
