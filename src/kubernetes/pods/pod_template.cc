#include "kubernetes/pods/pod_template.h"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>
#include <vector>

#include "base/format.h"
#include "job/units.h"
#include "kubernetes/pods/manifests.h"
#include "kubernetes/pods/names.h"

namespace gangrun::kubernetes::pods {
namespace {

using base::Json;
using base::Result;

enum class Same { kMerged, kReplaced };  // what becomes of two items with one key

struct ListRule {
  std::string_view list;
  std::string_view key;  // empty: items have none, all are kept
  Same same;
};

// The merge keys of Kubernetes' types. An item of which only one kind may be there (a volume, a
// variable) is replaced.
constexpr std::array<ListRule, 15> kLists = {{
    {"containers", "name", Same::kMerged},
    {"initContainers", "name", Same::kMerged},
    {"volumes", "name", Same::kReplaced},
    {"imagePullSecrets", "name", Same::kMerged},
    {"resourceClaims", "name", Same::kReplaced},
    {"schedulingGates", "name", Same::kMerged},
    {"hostAliases", "ip", Same::kMerged},
    {"topologySpreadConstraints", "topologyKey", Same::kMerged},
    {"env", "name", Same::kReplaced},
    {"volumeMounts", "mountPath", Same::kMerged},
    {"volumeDevices", "devicePath", Same::kMerged},
    {"ports", "containerPort", Same::kMerged},
    {"tolerations", "", Same::kMerged},
    {"requiredDuringSchedulingIgnoredDuringExecution", "", Same::kMerged},
    {"preferredDuringSchedulingIgnoredDuringExecution", "", Same::kMerged},
}};

void merge_list(Json& base, const Json& patch, const ListRule& rule) {
  const std::string key(rule.key);
  for (const Json& item : patch) {
    const auto same = std::find_if(base.begin(), base.end(), [&](const Json& old) {
      if (key.empty()) return old == item;
      return old.is_object() && item.is_object() && old.contains(key) && item.contains(key) &&
             old.at(key) == item.at(key);
    });
    if (same == base.end()) {
      base.push_back(item);
    } else if (rule.same == Same::kMerged && item.is_object()) {
      merge_pod(*same, item);
    } else {
      *same = item;
    }
  }
}

base::Error refused(const std::string& field, std::string_view text) {
  return base::invalid_argument(base::format("{}: {}", field, text));
}

Result<> check_text(const Json& object, const char* key, std::string_view only,
                    const std::string& field) {
  if (!object.contains(key) || object.at(key) == only) return {};
  return refused(base::format("{}.{}", field, key),
                 base::format("{} is not allowed; a task's pod has {}",
                              base::dump_json(object.at(key)), only));
}

Result<> check_keys(const Json& object, const std::vector<std::string>& allowed,
                    const std::string& field) {
  for (const auto& [key, value] : object.items()) {
    if (std::ranges::find(allowed, key) != allowed.end()) continue;
    return refused(base::format("{}.{}", field, key),
                   base::format("cannot be given; allowed: {}", base::join(allowed, ", ")));
  }
  return {};
}

// object[key], if it is there, is a list of mappings, each with `item_key`, no two with the same
// where it is a name.
Result<> check_list(const Json& object, const char* key, const char* item_key,
                    const std::string& field) {
  if (!object.contains(key) || object.at(key).is_null()) return {};
  const std::string own_field = base::format("{}.{}", field, key);
  if (!object.at(key).is_array()) return refused(own_field, "is not a list");
  std::set<std::string> names;
  for (std::size_t i = 0; i < object.at(key).size(); ++i) {
    const Json& item = object.at(key)[i];
    const std::string item_field = base::format("{}.{}", own_field, i);
    if (!item.is_object()) return refused(item_field, "is not a mapping");
    if (*item_key == '\0') continue;
    if (!item.contains(item_key) || !item.at(item_key).is_string() ||
        item.at(item_key).get_ref<const std::string&>().empty()) {
      return refused(item_field, base::format("has no {}", item_key));
    }
    const auto& name = item.at(item_key).get_ref<const std::string&>();
    if (!names.insert(name).second) {
      return refused(item_field, base::format("{} is there twice", job::in_quotes(name)));
    }
  }
  return {};
}

Result<> check_containers(const Json& spec, const char* list, const std::string& field) {
  GANGRUN_TRY(check_list(spec, list, "name", field));
  if (!spec.contains(list)) return {};
  for (std::size_t i = 0; i < spec.at(list).size(); ++i) {
    const Json& container = spec.at(list)[i];
    const std::string own_field = base::format("{}.{}.{}", field, list, i);
    const std::string name = container.at("name").get<std::string>();
    if (name == kOutputsContainer || name == kFilesContainer) {
      return refused(own_field + ".name", base::format("{} is a container of gangrun's", name));
    }
    GANGRUN_TRY(check_list(container, "env", "name", own_field));
    GANGRUN_TRY(check_list(container, "volumeMounts", "mountPath", own_field));
    GANGRUN_TRY(check_list(container, "ports", "", own_field));
    if (container.contains("resources") && !container.at("resources").is_object()) {
      return refused(own_field + ".resources", "is not a mapping");
    }
  }
  return {};
}

Result<> check_volumes(const Json& spec, const std::string& field) {
  GANGRUN_TRY(check_list(spec, "volumes", "name", field));
  if (!spec.contains("volumes")) return {};
  for (const Json& volume : spec.at("volumes")) {
    const std::string name = volume.at("name").get<std::string>();
    if (!name.starts_with(kOurVolumes)) continue;
    return refused(field + ".volumes", base::format("{}: names that begin with {} are gangrun's",
                                                    job::in_quotes(name), kOurVolumes));
  }
  return {};
}

Result<> check_metadata(const Json& metadata, const std::string& field,
                        const std::string& name_space) {
  if (!metadata.is_object()) return refused(field, "is not a mapping");
  // Empty members are what `kubectl create --dry-run` writes.
  GANGRUN_TRY(check_keys(
      metadata, {"name", "generateName", "namespace", "labels", "annotations", "creationTimestamp"},
      field));
  GANGRUN_TRY(check_text(metadata, "namespace", name_space, field));
  for (const char* key : {"labels", "annotations"}) {
    if (!metadata.contains(key) || metadata.at(key).is_null()) continue;
    const std::string own_field = base::format("{}.{}", field, key);
    const Json& given = metadata.at(key);
    if (!given.is_object()) return refused(own_field, "is not a mapping");
    GANGRUN_TRY(key == std::string_view("labels") ? check_labels(given, own_field)
                                                  : check_annotations(given, own_field));
  }
  return {};
}

Result<> check_spec(const Json& spec, const std::string& field) {
  if (!spec.is_object()) return refused(field, "is not a mapping");
  GANGRUN_TRY(check_text(spec, "restartPolicy", "Never", field));
  for (const char* key : {"hostname", "subdomain"}) {
    if (!spec.contains(key)) continue;
    return refused(base::format("{}.{}", field, key),
                   "cannot be given; by it the tasks know each other, so gangrun sets it");
  }
  GANGRUN_TRY(check_containers(spec, "containers", field));
  GANGRUN_TRY(check_containers(spec, "initContainers", field));
  GANGRUN_TRY(check_volumes(spec, field));
  GANGRUN_TRY(check_list(spec, "imagePullSecrets", "name", field));
  return check_list(spec, "tolerations", "", field);
}

void put_layer(Json& pod, const Json& layer) {
  if (layer.is_null()) return;
  const Json metadata = layer.value("metadata", Json::object());
  Json taken = Json::object();
  for (const char* key : {"labels", "annotations"}) {
    if (metadata.contains(key) && metadata.at(key).is_object()) {
      taken["metadata"][key] = metadata.at(key);
    }
  }
  if (layer.contains("spec")) taken["spec"] = layer.at("spec");
  merge_pod(pod, taken);
}

}  // namespace

Result<> check_pod_template(const Json& json, const std::string& field,
                            const std::string& name_space) {
  if (json.is_null()) return {};
  if (!json.is_object()) return refused(field, "is not a pod; a mapping with `spec` is one");
  GANGRUN_TRY(check_keys(json, {"apiVersion", "kind", "metadata", "spec", "status"}, field));
  GANGRUN_TRY(check_text(json, "apiVersion", "v1", field));
  GANGRUN_TRY(check_text(json, "kind", "Pod", field));
  if (json.contains("metadata")) {
    GANGRUN_TRY(check_metadata(json.at("metadata"), field + ".metadata", name_space));
  }
  if (json.contains("spec")) GANGRUN_TRY(check_spec(json.at("spec"), field + ".spec"));
  if (!json.contains("kind")) return {};
  const Json spec = json.value("spec", Json::object());
  if (spec.contains("containers") && !spec.at("containers").empty()) return {};
  return refused(field + ".spec.containers", "a pod has at least one container, the task's");
}

Result<> check_pod_options(const KubernetesOptions& options) {
  const Json lists = {{"volumes", options.volumes},
                      {"volume_mounts", options.volume_mounts},
                      {"tolerations", options.tolerations}};
  const std::string field = "kubernetes";
  GANGRUN_TRY(check_volumes(lists, field));
  GANGRUN_TRY(check_list(lists, "volume_mounts", "mountPath", field));
  return check_list(lists, "tolerations", "", field);
}

void merge_pod(Json& base, const Json& patch) {
  for (const auto& [key, value] : patch.items()) {
    if (value.is_null()) {
      base.erase(key);
      continue;
    }
    if (!base.contains(key)) {
      base[key] = value;
      continue;
    }
    Json& old = base[key];
    const auto* rule = std::ranges::find(kLists, key, &ListRule::list);
    if (old.is_object() && value.is_object()) {
      merge_pod(old, value);
    } else if (old.is_array() && value.is_array() && rule != kLists.end()) {
      merge_list(old, value, *rule);
    } else {
      old = value;
    }
  }
}

Json template_of(const job::JobSpec& spec, const job::TaskSpec& task) {
  Json pod = {{"apiVersion", "v1"},
              {"kind", "Pod"},
              {"metadata", Json::object()},
              {"spec", Json::object()}};
  put_layer(pod, kubernetes_of(spec).pod);
  put_layer(pod, task.pod);
  return pod;
}

std::string task_container(const Json& pod) {
  const Json& spec = pod.at("spec");
  if (!spec.contains("containers") || spec.at("containers").empty() ||
      find_container(pod, kTaskContainer) != nullptr) {
    return kTaskContainer;
  }
  return spec.at("containers").front().at("name").get<std::string>();
}

const Json* find_container(const Json& pod, const std::string& name) {
  const Json& spec = pod.at("spec");
  if (!spec.contains("containers")) return nullptr;
  for (const Json& container : spec.at("containers")) {
    if (container.at("name") == name) return &container;
  }
  return nullptr;
}

}  // namespace gangrun::kubernetes::pods
