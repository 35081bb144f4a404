#include "kubernetes/pods/manifests.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/check.h"
#include "base/format.h"
#include "kubernetes/pods/agent_files.h"
#include "kubernetes/pods/gang_scheduling.h"
#include "kubernetes/pods/hint_ports.h"
#include "kubernetes/pods/names.h"
#include "kubernetes/pods/pod_template.h"
#include "kubernetes/pods/secrets.h"

namespace gangrun::kubernetes::pods {
namespace {

using base::Json;
using base::Result;

// Stands where the owner's pod would, which is never made.
constexpr const char* kNoImage = "none";

const job::TaskSpec& type_of(const ManifestInput& input, const job::TaskId& task) {
  const job::TaskSpec* spec = input.spec.find(task.type);
  GANGRUN_CHECK(spec != nullptr, task.type);
  return *spec;
}

Result<> check_image(const ManifestInput& input, const job::TaskSpec& task) {
  if (!input.spec.image_of(task).empty()) return {};
  const Json pod = template_of(input.spec, task);
  const Json* container = find_container(pod, task_container(pod));
  if (container != nullptr && container->contains("image") && container->at("image").is_string()) {
    return {};
  }
  return base::invalid_argument(
      base::format("tasks.{}.image: is missing; a pod needs an image: set one for the job, for "
                   "this task type or for its pod's container",
                   task.type));
}

Result<> check_templates(const ManifestInput& input) {
  GANGRUN_TRY(check_pod_options(kubernetes_of(input.spec)));
  GANGRUN_TRY(
      check_pod_template(kubernetes_of(input.spec).pod, "kubernetes.pod", input.name_space));
  for (const job::TaskSpec& task : input.spec.tasks) {
    GANGRUN_TRY(
        check_pod_template(task.pod, base::format("tasks.{}.pod", task.type), input.name_space));
    GANGRUN_TRY(check_image(input, task));
  }
  return {};
}

// All pods by one service: each has a name of its own under it, from the moment it has an address.
Json headless_service(const ManifestInput& input, const std::string& name, Json selector,
                      const Owner& owner) {
  Json service = object_of(input, "v1", "Service", name, owner);
  service["spec"] = {
      {"clusterIP", "None"}, {"publishNotReadyAddresses", true}, {"selector", std::move(selector)}};
  return service;
}

Json ports_of(const ManifestInput& input, const job::TaskSpec& task) {
  Json ports = Json::array();
  for (int i = 0; i < task.ports.count; ++i) {
    const int port = input.names.first_port + i;
    ports.push_back({{"name", base::format("port-{}", port)}, {"port", port}});
  }
  return ports;
}

// `service` with what the user's template says beside names, ports' numbers and whom it chooses.
void apply_template(const Json& from, Json& service) {
  const Json metadata = from.value("metadata", Json::object());
  const Json labels = metadata.value("labels", Json::object());
  for (const auto& [key, value] : labels.items()) {
    if (!service["metadata"]["labels"].contains(key)) service["metadata"]["labels"][key] = value;
  }
  if (metadata.contains("annotations")) {
    service["metadata"]["annotations"] = metadata["annotations"];
  }
  const Json spec = from.value("spec", Json::object());
  Json& own = service["spec"];
  // Whoever names a type wants the address that goes with it.
  if (spec.contains("type")) own.erase("clusterIP");
  for (const auto& [key, value] : spec.items()) {
    if (key != "ports" && key != "selector") own[key] = value;
  }
  const Json ports = spec.value("ports", Json::array());
  for (std::size_t i = 0; ports.is_array() && i < std::min(ports.size(), own["ports"].size());
       ++i) {
    for (const auto& [key, value] : ports[i].items()) {
      if (key != "port" && key != "targetPort") own["ports"][i][key] = value;
    }
  }
}

void add_services(const ManifestInput& input, const Owner& owner, std::vector<Json>& objects) {
  if (!input.names.has_service_per_task) {
    objects.push_back(headless_service(input, job_name(input), {{kJobLabel, input.job_id}}, owner));
    return;
  }
  for (const job::TaskId& task : input.spec.task_ids()) {
    const std::string name = pod_name(input, task);
    objects.push_back(
        headless_service(input, name, {{"app", name}, {kJobLabel, input.job_id}}, owner));
    objects.back()["spec"]["ports"] = ports_of(input, type_of(input, task));
    if (!input.names.service_template.is_null()) {
      apply_template(input.names.service_template, objects.back());
    }
  }
}

}  // namespace

Result<Manifests> Manifests::make(ManifestInput input) {
  GANGRUN_TRY(check_names(input));
  GANGRUN_TRY(check_templates(input));
  GANGRUN_TRY(check_gang_scheduling(input));
  GANGRUN_TRY(check_fetched(input));
  GANGRUN_ASSIGN(CarriedLayout layout, lay_out(input));
  return Manifests(std::move(input), std::move(layout));
}

std::string Manifests::pod_name(const job::TaskId& task) const {
  return pods::pod_name(input_, task);
}

job::Address Manifests::address_of(const job::TaskId& task) const {
  return pods::address_of(input_, task);
}

std::vector<std::uint16_t> Manifests::more_ports_of(const job::TaskId& task) const {
  std::vector<std::uint16_t> ports;
  for (int i = 1; i < type_of(input_, task).ports.count; ++i) {
    ports.push_back(static_cast<std::uint16_t>(input_.names.first_port + i));
  }
  return ports;
}

std::string Manifests::container_of(const job::TaskId& task) const {
  if (task == kRelayTask) return kRelayContainer;
  return task_container(template_of(input_.spec, type_of(input_, task)));
}

std::vector<std::uint16_t> Manifests::hint_ports_of(const job::TaskId& task) const {
  return hint_ports(input_.job_id, task,
                    is_on_host_network(template_of(input_.spec, type_of(input_, task))));
}

std::vector<std::string> Manifests::outputs_of(const job::TaskId& task) const {
  return input_.spec.outputs_of(type_of(input_, task)).value_or(std::vector<std::string>());
}

Json Manifests::owner(std::chrono::seconds lease) const {
  const std::string& image = input_.spec.image;
  Json container = {{"name", kLeaseOwner}, {"image", image.empty() ? kNoImage : image}};
  return {
      {"apiVersion", "batch/v1"},
      {"kind", "Job"},
      {"metadata", metadata_of(input_, owner_name(input_), nullptr)},
      {"spec",
       {{"parallelism", 0},
        {"backoffLimit", 0},
        {"activeDeadlineSeconds", lease.count()},
        {"ttlSecondsAfterFinished", 0},
        {"suspend", false},
        {"template",
         {{"spec",
           {{"restartPolicy", "Never"}, {"containers", Json::array({std::move(container)})}}}}}}}};
}

std::vector<Json> Manifests::objects(const Owner& owner, ObjectsOf of) const {
  std::vector<Json> objects;
  if (input_.agents && of != ObjectsOf::kClient) {
    objects.push_back(agent_secret(input_, *input_.agents, owner));
  }
  if (of == ObjectsOf::kMaster) return objects;
  const bool has_variables = shows_variables(input_);
  auto secret = has_variables ? secret_object(input_, owner) : std::nullopt;
  if (secret) objects.push_back(*std::move(secret));
  for (Json& map : config_maps(input_, layout_, owner)) objects.push_back(std::move(map));
  auto hosts = has_variables ? hosts_config_map(input_, hosts_, owner) : std::nullopt;
  if (hosts) objects.push_back(*std::move(hosts));
  add_services(input_, owner, objects);
  if (auto gang = gang_object(input_, owner)) objects.push_back(*std::move(gang));
  return objects;
}

std::string collection_path(const Json& object, const std::string& name_space) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 7> kCollections = {{
      {"Pod", "pods"},
      {"Service", "services"},
      {"ConfigMap", "configmaps"},
      {"Secret", "secrets"},
      {"Job", "jobs"},
      {"PodGroup", "podgroups"},
      {"Workload", "workloads"},
  }};
  const std::string version = object.value("apiVersion", "");
  const std::string kind = object.value("kind", "");
  for (const auto& [name, collection] : kCollections) {
    if (kind != name) continue;
    return base::format("{}/{}/namespaces/{}/{}", version == "v1" ? "/api" : "/apis", version,
                        name_space, collection);
  }
  return "";
}

}  // namespace gangrun::kubernetes::pods
