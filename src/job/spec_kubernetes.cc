#include "job/spec_kubernetes.h"

#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "base/strings.h"
#include "job/spec_names.h"
#include "job/yaml_value.h"

namespace gangrun::job {

namespace {

using base::Json;
using base::Result;

using Texts = std::map<std::string, std::string>;

Result<> read_into(const Field& field, std::string_view allowed, std::string& out) {
  GANGRUN_ASSIGN(out, read_text(field, allowed));
  return {};
}

Result<> read_texts(const Field& field, Texts& out) {
  if (field.node.kind == YamlNode::Kind::kNull) return {};
  if (field.node.kind != YamlNode::Kind::kMap) return field.not_allowed("a map of keys to texts");
  for (std::size_t i = 0; i < field.node.keys.size(); ++i) {
    const YamlNode::Key& key = field.node.keys[i];
    const Field child = field.child(i, key.name);
    field.origins[child.path] = position_text(field.source, key.mark);
    GANGRUN_ASSIGN(out[key.name], read_text(child, "a text; an empty one is written \"\""));
  }
  return {};
}

Result<> read_maps(const Field& field, std::vector<Json>& out) {
  constexpr std::string_view kMaps = "a list of maps, as a pod has it";
  if (field.node.kind != YamlNode::Kind::kList) return field.not_allowed(kMaps);
  for (std::size_t i = 0; i < field.node.children.size(); ++i) {
    const Field child = field.child(i, std::to_string(i));
    if (child.node.kind != YamlNode::Kind::kMap) return child.not_allowed("a map, as a pod has it");
    field.origins[child.path] = position_text(field.source, child.node.mark);
    out.push_back(json_value(child.node));
  }
  return {};
}

Result<> read_insecure(const Field& field, KubernetesOptions& own) {
  std::optional<bool> insecure;
  GANGRUN_TRY(read_choice(field, insecure));
  own.insecure = *insecure;
  return {};
}

Result<> read_gang_scheduling(const Field& field, KubernetesOptions& own) {
  std::optional<GangScheduling> scheduling;
  GANGRUN_TRY(read_scalar(field, base::format("{}", base::join(gang_scheduling_names(), ", ")),
                          gang_scheduling_from, scheduling));
  own.gang_scheduling = *scheduling;
  return {};
}

Result<> read_image_pull_secrets(const Field& field, KubernetesOptions& own) {
  GANGRUN_ASSIGN(own.image_pull_secrets, read_list(field, "names", "the name of a secret"));
  return {};
}

constexpr KeyRow<KubernetesOptions> kKubernetesKeys[] = {
    {"kubeconfig", [](const Field& field,
                      KubernetesOptions& k) { return read_into(field, "a file", k.kubeconfig); }},
    {"context",
     [](const Field& field, KubernetesOptions& k) {
       return read_into(field, "the name of a context", k.context);
     }},
    {"insecure", read_insecure},
    {"namespace",
     [](const Field& field, KubernetesOptions& k) {
       return read_into(field, "the name of a namespace", k.name_space);
     }},
    {"service_account",
     [](const Field& field, KubernetesOptions& k) {
       return read_into(field, "the name of a service account", k.service_account);
     }},
    {"labels",
     [](const Field& field, KubernetesOptions& k) { return read_texts(field, k.labels); }},
    {"annotations",
     [](const Field& field, KubernetesOptions& k) { return read_texts(field, k.annotations); }},
    {"node_selector",
     [](const Field& field, KubernetesOptions& k) { return read_texts(field, k.node_selector); }},
    {"tolerations",
     [](const Field& field, KubernetesOptions& k) { return read_maps(field, k.tolerations); }},
    {"volumes",
     [](const Field& field, KubernetesOptions& k) { return read_maps(field, k.volumes); }},
    {"volume_mounts",
     [](const Field& field, KubernetesOptions& k) { return read_maps(field, k.volume_mounts); }},
    {"image_pull_secrets", read_image_pull_secrets},
    {"image_pull_policy",
     [](const Field& field, KubernetesOptions& k) {
       return read_into(field, "Always, IfNotPresent, Never", k.image_pull_policy);
     }},
    {"priority_class",
     [](const Field& field, KubernetesOptions& k) {
       return read_into(field, "the name of a priority class", k.priority_class);
     }},
    {"queue",
     [](const Field& field, KubernetesOptions& k) {
       return read_into(field, "the name of a queue", k.queue);
     }},
    {"gang_scheduling", read_gang_scheduling},
    {"pod", [](const Field& field, KubernetesOptions& k) { return read_pod(field, k.pod); }},
    {"helper_image",
     [](const Field& field, KubernetesOptions& k) {
       return read_into(field, "the name of an image", k.helper_image);
     }},
};

}  // namespace

Result<> read_kubernetes(const Field& field, KubernetesOptions& kubernetes) {
  return read_map(field, kKubernetesKeys, kubernetes);
}

Result<> read_pod(const Field& field, Json& pod) {
  if (field.node.kind != YamlNode::Kind::kNull && field.node.kind != YamlNode::Kind::kMap) {
    return field.not_allowed("a map, a pod or a part of one as {spec: {hostNetwork: true}}");
  }
  pod = json_value(field.node);
  return {};
}

std::vector<std::string> kubernetes_keys() { return names_of(kKubernetesKeys); }

Json to_json(const KubernetesOptions& kubernetes) {
  Json json = Json::object();
  const auto put = [&json](const char* key, const auto& value) {
    if (!value.empty()) json[key] = value;
  };
  put("kubeconfig", kubernetes.kubeconfig);
  put("context", kubernetes.context);
  if (kubernetes.insecure) json["insecure"] = true;
  put("namespace", kubernetes.name_space);
  put("service_account", kubernetes.service_account);
  put("labels", kubernetes.labels);
  put("annotations", kubernetes.annotations);
  put("node_selector", kubernetes.node_selector);
  put("tolerations", kubernetes.tolerations);
  put("volumes", kubernetes.volumes);
  put("volume_mounts", kubernetes.volume_mounts);
  put("image_pull_secrets", kubernetes.image_pull_secrets);
  put("image_pull_policy", kubernetes.image_pull_policy);
  put("priority_class", kubernetes.priority_class);
  put("queue", kubernetes.queue);
  if (kubernetes.gang_scheduling != GangScheduling::kAuto) {
    json["gang_scheduling"] = to_string(kubernetes.gang_scheduling);
  }
  if (!kubernetes.pod.is_null()) json["pod"] = kubernetes.pod;
  put("helper_image", kubernetes.helper_image);
  return json;
}

}  // namespace gangrun::job
