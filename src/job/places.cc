#include "job/places.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <vector>

#include "base/format.h"
#include "base/letters.h"
#include "base/strings.h"
#include "job/hosts.h"
#include "job/job_fields.h"
#include "job/kubernetes_rules.h"
#include "job/limits.h"
#include "job/plan_json.h"
#include "job/shipped_files.h"
#include "job/task_fields.h"
#include "job/units.h"

namespace gangrun::job {

namespace {

bool is_visible(char c) { return static_cast<unsigned char>(c) > 0x20 && c != 0x7F; }

bool is_label(std::string_view text) {
  return text.size() <= kMaxLabelBytes && base::is_letter_or_digit(text.front()) &&
         std::all_of(text.begin(), text.end(),
                     [](char c) { return base::is_letter_or_digit(c) || c == '_' || c == '-'; });
}

Found check_queue(const std::string& queue) {
  const bool fits = queue.size() <= kMaxQueueBytes && base::is_valid_utf8(queue) &&
                    std::all_of(queue.begin(), queue.end(), is_visible);
  if (fits) return std::nullopt;
  return Problem{"yarn.queue",
                 base::format("{} is not the name of a queue; allowed: a text without blanks, at "
                              "most {} bytes, for example root.research",
                              in_quotes(queue), kMaxQueueBytes)};
}

Found check_tags(const std::vector<std::string>& tags) {
  if (tags.size() > kMaxTags) {
    return Problem{"yarn.tags",
                   base::format("{} tags are more than the limit of {}", tags.size(), kMaxTags)};
  }
  std::set<std::string> seen;
  for (const std::string& tag : tags) {
    const bool fits = !tag.empty() && tag.size() <= kMaxTagBytes &&
                      std::all_of(tag.begin(), tag.end(), [](char c) {
                        return is_visible(c) && static_cast<unsigned char>(c) < 0x7F && c != ',';
                      });
    if (!fits) {
      return Problem{"yarn.tags",
                     base::format("{} is not a tag; allowed: ASCII without blanks and ',', 1 to {} "
                                  "characters",
                                  in_quotes(tag), kMaxTagBytes)};
    }
    if (!seen.insert(tag).second) {
      return Problem{"yarn.tags", base::format("{} is given twice", in_quotes(tag))};
    }
  }
  return std::nullopt;
}

Found check_acl(const std::string& acl, const std::string& path) {
  if (auto found = check_text(acl, path)) return found;
  const bool is_line =
      std::all_of(acl.begin(), acl.end(), [](char c) { return c == ' ' || is_visible(c); });
  if (is_line) return std::nullopt;
  return Problem{
      path, base::format("{} has a control character; allowed: \"user,user group,group\", or *",
                         in_quotes(acl))};
}

Found check_file_systems(const std::vector<std::string>& urls) {
  if (urls.size() > kMaxFileSystems) {
    return Problem{"yarn.file_systems",
                   base::format("{} are more than the limit of {}", urls.size(), kMaxFileSystems)};
  }
  for (const std::string& url : urls) {
    const bool fits = url.find("://") != std::string::npos && url.find("://") > 0 &&
                      base::is_valid_utf8(url) && std::all_of(url.begin(), url.end(), is_visible);
    if (!fits) {
      return Problem{"yarn.file_systems",
                     base::format("{} is not the address of a file system; allowed: "
                                  "hdfs://host:port, hdfs://nameservice",
                                  in_quotes(url))};
    }
  }
  return std::nullopt;
}

// Of somebody: what is in it Kerberos and the cluster know better.
Found check_name(const std::string& name, const std::string& path) {
  const bool fits = base::is_valid_utf8(name) && std::all_of(name.begin(), name.end(), is_visible);
  if (fits) return std::nullopt;
  return Problem{path,
                 base::format("{} is not a name; allowed: a text without blanks", in_quotes(name))};
}

// A value that another place would take.
Problem refuse(const std::string& path, std::string_view value, std::string_view place,
               std::string_view other) {
  return {path, base::format("{} is not allowed with `on: {}`; allowed with `on: {}`",
                             in_quotes(value), place, other)};
}

Problem only_on_yarn(const std::string& path, std::string_view value) {
  return refuse(path, value, kLocal, kYarn);
}

Found find_others(const std::map<std::string, std::int64_t>& others, const std::string& path) {
  if (others.empty()) return std::nullopt;
  const auto& [name, amount] = *others.begin();
  return only_on_yarn(base::format("{}.resources.{}", path, name), std::to_string(amount));
}

Found find_archives(const std::map<std::string, std::string>& archives, const std::string& path) {
  if (archives.empty()) return std::nullopt;
  const auto& [folder, source] = *archives.begin();
  return only_on_yarn(base::format("{}.{}", path, folder), source);
}

// The first thing of a task type that this machine does not have.
Found find_cluster_only(const TaskSpec& task) {
  const std::string path = "tasks." + task.type;
  if (!task.pod.is_null()) {
    return refuse(path + ".pod", base::dump_json(task.pod), kLocal, kKubernetes);
  }
  if (auto found = find_others(task.resources.others, path)) return found;
  if (auto found = find_archives(task.archives, path + ".archives")) return found;
  for (const auto& [index, own] : task.overrides) {
    if (auto found = find_others(own.others, base::format("{}.overrides.{}", path, index))) {
      return found;
    }
  }
  return std::nullopt;
}

Found refuse_yarn(const JobSpec& job) {
  if (const auto [key, value] = first_given(yarn_master_fields(), job); !key.empty()) {
    return only_on_yarn("yarn.master." + key, value);
  }
  if (const auto [key, value] = first_given(yarn_fields(), job); !key.empty()) {
    return only_on_yarn("yarn." + key, value);
  }
  return std::nullopt;
}

Found refuse_kubernetes(const JobSpec& job, std::string_view place) {
  const auto [key, value] = first_given(kubernetes_fields(), job);
  if (key.empty()) return std::nullopt;
  return refuse("kubernetes." + key, value, place, kKubernetes);
}

// Where tasks have files of their own, and nobody brings them here.
Found refuse_outputs(const JobSpec& job) {
  if (!job.outputs.empty()) return refuse("outputs", job.outputs.front(), job.on, kKubernetes);
  for (const TaskSpec& task : job.tasks) {
    if (!task.outputs || task.outputs->empty()) continue;
    const std::string path = base::format("tasks.{}.outputs", task.type);
    return refuse(path, task.outputs->front(), job.on, kKubernetes);
  }
  return std::nullopt;
}

Found check_local(const JobSpec& job) {
  for (const TaskSpec& task : job.tasks) {
    if (auto found = find_cluster_only(task)) return found;
  }
  if (auto found = refuse_yarn(job)) return found;
  if (auto found = refuse_kubernetes(job, kLocal)) return found;
  if (auto found = find_archives(job.archives, "archives")) return found;
  for (std::size_t i = 0; i < job.files.size(); ++i) {
    if (!is_cluster_url(job.files[i])) continue;
    return only_on_yarn(base::format("files.{}", i), job.files[i]);
  }
  return std::nullopt;
}

Found check_on_yarn(const JobSpec& job) {
  if (!job.hosts.empty()) return refuse("hosts", to_string(job.hosts.front()), kYarn, kLocal);
  if (auto found = refuse_outputs(job)) return found;
  for (std::size_t i = 0; i < job.files.size(); ++i) {
    if (!has_scheme(job.files[i])) continue;
    const auto file = cluster_file(job.files[i]);
    if (!file.ok()) return Problem{base::format("files.{}", i), file.error().message};
  }
  return std::nullopt;
}

Problem not_on_spark(const std::string& path, std::string_view value, std::string_view instead) {
  return {path, base::format("{} is not allowed with `on: spark`; {}", in_quotes(value), instead)};
}

constexpr std::string_view kShippedBySpark =
    "Spark ships files to its executors (spark.files, spark.archives, SparkContext.addFile)";
constexpr std::string_view kPlacedBySpark =
    "Spark decides where its executors are and what they have when it starts";
constexpr std::string_view kFixedSize =
    "every task joins once, from the executor that Spark gives it";

Found check_task_on_spark(const TaskSpec& task) {
  const std::string path = "tasks." + task.type;
  if (task.image && !task.image->empty()) {
    return not_on_spark(path + ".image", *task.image, "the image is that of Spark's executors");
  }
  if (task.resources.gpus > 0) {
    return not_on_spark(path + ".gpus", std::to_string(task.resources.gpus),
                        "Spark assigns GPUs (spark.task.resource.gpu.amount)");
  }
  for (const auto& [index, own] : task.overrides) {
    if (own.gpus.value_or(0) == 0) continue;
    return not_on_spark(base::format("{}.overrides.{}.gpus", path, index),
                        std::to_string(*own.gpus),
                        "Spark assigns GPUs (spark.task.resource.gpu.amount)");
  }
  if (!task.archives.empty()) {
    return not_on_spark(path + ".archives", task.archives.begin()->second, kShippedBySpark);
  }
  if (!task.resources.others.empty()) {
    const auto& [name, amount] = *task.resources.others.begin();
    return not_on_spark(base::format("{}.resources.{}", path, name), std::to_string(amount),
                        "Spark assigns them (spark.task.resource.NAME.amount)");
  }
  if (!task.pod.is_null()) {
    return refuse(path + ".pod", base::dump_json(task.pod), kSpark, kKubernetes);
  }
  if (task.label) return not_on_spark(path + ".label", *task.label, kPlacedBySpark);
  if (task.one_per_node) return not_on_spark(path + ".one_per_node", "true", kPlacedBySpark);
  if (task.spares > 0) {
    return not_on_spark(path + ".spares", std::to_string(task.spares), kFixedSize);
  }
  if (task.min_instances && *task.min_instances < task.instances) {
    return not_on_spark(path + ".min_instances", std::to_string(*task.min_instances), kFixedSize);
  }
  return std::nullopt;
}

Found check_on_spark(const JobSpec& job) {
  if (job.restarts.max > 0 && job.restarts.scope != RestartScope::kNone) {
    return not_on_spark("restarts.max", std::to_string(job.restarts.max),
                        "nobody restarts a task there; allowed: 0");
  }
  if (!job.files.empty()) return not_on_spark("files", job.files.front(), kShippedBySpark);
  if (!job.archives.empty()) {
    return not_on_spark("archives", job.archives.begin()->second, kShippedBySpark);
  }
  if (!job.image.empty()) {
    return not_on_spark("image", job.image, "the image is that of Spark's executors");
  }
  if (job.yarn != YarnOptions{}) {
    return Problem{"yarn", "is not allowed with `on: spark`; allowed with `on: yarn`"};
  }
  if (auto found = refuse_kubernetes(job, kSpark)) return found;
  if (auto found = refuse_outputs(job)) return found;
  if (!job.hosts.empty()) {
    return not_on_spark("hosts", to_string(job.hosts.front()), kPlacedBySpark);
  }
  for (const TaskSpec& task : job.tasks) {
    if (auto found = check_task_on_spark(task)) return found;
  }
  return std::nullopt;
}

// The first text of a part of the job that is none: `why` says who takes nothing else.
Found find_no_text(const base::Json& part, const std::string& path, std::string_view why) {
  if (part.is_string() && !base::is_valid_utf8(part.get_ref<const std::string&>())) {
    return Problem{path,
                   base::format("{} is not UTF-8, {}", in_quotes(part.get<std::string>()), why)};
  }
  if (!part.is_structured()) return std::nullopt;
  for (const auto& [key, value] : part.items()) {
    const std::string own_path = path.empty() ? key : base::format("{}.{}", path, key);
    if (!base::is_valid_utf8(key))
      return Problem{path, base::format("a key is not UTF-8, {}", why)};
    if (auto found = find_no_text(value, own_path, why)) return found;
  }
  return std::nullopt;
}

// All that is sent to the API server. Files are read here; their names are looked at when they are.
Found check_text_on_kubernetes(const JobSpec& job) {
  JobSpec sent = job;
  sent.files.clear();
  sent.kubernetes.kubeconfig.clear();
  return find_no_text(to_json(sent), "", "and Kubernetes takes nothing else");
}

// What an engine is told of the tasks that run in an image.
Found check_text_for_images(const JobSpec& job) {
  const auto has_image = [&](const TaskSpec& task) { return !job.image_of(task).empty(); };
  if (std::none_of(job.tasks.begin(), job.tasks.end(), has_image)) return std::nullopt;
  const base::Json json = to_json(job);
  const auto look_at = [](const base::Json& part, const std::string& path) -> Found {
    for (const char* key : {"command", "env", "mounts"}) {
      const auto value = part.find(key);
      if (value == part.end()) continue;
      const std::string own_path = path.empty() ? key : base::format("{}.{}", path, key);
      if (auto found = find_no_text(*value, own_path, "and engines of images take nothing else")) {
        return found;
      }
    }
    return std::nullopt;
  };
  if (auto found = look_at(json, "")) return found;
  for (const TaskSpec& task : job.tasks) {
    if (!has_image(task)) continue;
    if (auto found = look_at(json["tasks"][task.type], "tasks." + task.type)) return found;
  }
  return std::nullopt;
}

Found check_own_place(const JobSpec& job) {
  if (job.on == kKubernetes) {
    if (auto found = check_text_on_kubernetes(job)) return found;
    return check_on_kubernetes(job);
  }
  if (auto found = check_text_for_images(job)) return found;
  if (job.on == kLocal) return check_local(job);
  if (job.on == kYarn) return check_on_yarn(job);
  if (job.on == kSpark) return check_on_spark(job);
  return std::nullopt;
}

}  // namespace

std::vector<std::string> place_names() {
  return {std::string(kLocal), std::string(kYarn), std::string(kKubernetes), std::string(kSpark)};
}

Found check_label(const std::optional<std::string>& label, const std::string& path) {
  if (!label || label->empty() || is_label(*label)) return std::nullopt;
  return Problem{path, base::format("{} is not a node label; allowed: a letter or digit, then at "
                                    "most {} letters, digits, '_' or '-'; nothing for the nodes "
                                    "without one",
                                    in_quotes(*label), kMaxLabelBytes - 1)};
}

Found check_yarn(const YarnOptions& yarn) {
  if (auto found = check_queue(yarn.queue)) return found;
  if (auto found = check_tags(yarn.tags)) return found;
  const Resources& master = yarn.master;
  if (master.gpus != 0 || !master.others.empty()) {
    return Problem{"yarn.master", "has more than memory and vcores; allowed: these two"};
  }
  if (auto found = check_label(yarn.master_label, "yarn.master.label")) return found;
  if (auto found = check_acl(yarn.view_acl, "yarn.view_acl")) return found;
  if (auto found = check_acl(yarn.modify_acl, "yarn.modify_acl")) return found;
  if (auto found = check_file_systems(yarn.file_systems)) return found;
  if (auto found = check_name(yarn.principal, "yarn.principal")) return found;
  if (auto found = check_bytes(yarn.keytab, "yarn.keytab")) return found;
  if (auto found = check_name(yarn.as, "yarn.as")) return found;
  if (!yarn.as.empty() && !yarn.keytab.empty()) {
    return Problem{"yarn.as", base::format("{} is not allowed with a keytab: the processes of that "
                                           "user could read the keys",
                                           in_quotes(yarn.as))};
  }
  return std::nullopt;
}

Found check_place(const JobSpec& job) {
  if (auto found = check_own_place(job)) return found;
  return check_places_of_fields(job);
}

}  // namespace gangrun::job
