#include "kubernetes/pods/shared_hosts.h"

#include <utility>

#include "base/format.h"
#include "job/cluster_spec.h"
#include "job/units.h"
#include "kubernetes/pods/manifests.h"
#include "kubernetes/pods/names.h"

namespace gangrun::kubernetes::pods {
namespace {

using base::Json;

// Whether `text` had `part`, which `by` stands for now.
bool replace(std::string& text, const std::string& part, const std::string& by) {
  const std::size_t at = text.find(part);
  if (at == std::string::npos) return false;
  text.replace(at, part.size(), by);
  return true;
}

}  // namespace

std::vector<SharedHosts> shared_hosts(const ManifestInput& input) {
  std::vector<SharedHosts> hosts;
  std::size_t bytes = 0;
  for (const job::TaskSpec& task : input.spec.tasks) {
    std::vector<job::Address> addresses;
    Json texts = Json::array();
    for (int index = 0; index < task.instances; ++index) {
      addresses.push_back(address_of(input, {task.type, index}));
      texts.push_back(job::to_string(addresses.back()));
    }
    const std::string brackets = base::dump_json(texts);
    const std::string type = job::in_variable(task.type);
    SharedHosts list{base::format("GANGRUN_HOSTS_{}", type), job::comma_separated(addresses)};
    SharedHosts json{base::format("GANGRUN_QUOTED_HOSTS_{}", type),
                     brackets.substr(1, brackets.size() - 2)};
    if (list.text.size() < kShortestSharedHosts) continue;
    // Lists that find no room stand in the pods.
    bytes += list.text.size() + json.text.size();
    if (bytes > kMaxConfigMapBytes) break;
    hosts.push_back(std::move(list));
    hosts.push_back(std::move(json));
  }
  return hosts;
}

std::optional<Json> hosts_config_map(const ManifestInput& input,
                                     const std::vector<SharedHosts>& hosts, const Owner& owner) {
  if (hosts.empty()) return std::nullopt;
  Json map = object_of(input, "v1", "ConfigMap", hosts_name(input), owner);
  map["immutable"] = true;
  for (const SharedHosts& one : hosts) map["data"][one.variable] = one.text;
  return map;
}

Json refer_to_hosts(const ManifestInput& input, const std::vector<SharedHosts>& hosts,
                    Json variables) {
  Json environment = Json::array();
  for (const SharedHosts& one : hosts) {
    const std::string reference = base::format("$({})", one.variable);
    bool is_used = false;
    for (Json& variable : variables) {
      const auto value = variable.find("value");
      if (value == variable.end()) continue;
      is_used = replace(value->get_ref<std::string&>(), one.text, reference) || is_used;
    }
    if (!is_used) continue;
    environment.push_back(
        {{"name", one.variable},
         {"valueFrom",
          {{"configMapKeyRef", {{"name", hosts_name(input)}, {"key", one.variable}}}}}});
  }
  for (Json& variable : variables) environment.push_back(std::move(variable));
  return environment;
}

}  // namespace gangrun::kubernetes::pods
