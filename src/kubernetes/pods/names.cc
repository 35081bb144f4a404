#include "kubernetes/pods/names.h"

#include <algorithm>
#include <limits>
#include <map>

#include "base/format.h"
#include "base/letters.h"
#include "base/strings.h"
#include "job/units.h"
#include "kubernetes/pods/agent_pods.h"
#include "kubernetes/pods/kubernetes_options.h"

namespace gangrun::kubernetes::pods {
namespace {

using base::Json;
using base::Result;

constexpr std::size_t kMaxDomainBytes = 253;
// The longest end of the names of objects that are not pods.
constexpr std::string_view kLongestEndOfObjects = "-files-9999";

bool is_word(std::string_view text) { return !text.empty() && is_label_value(text); }

std::string as_dns(std::string_view text) {
  std::string out = base::in_small_letters(text);
  std::ranges::replace_if(
      out, [](char c) { return !base::is_small_letter_or_digit(c); }, '-');
  return out;
}

// The length of what follows the job's name in the longest of all names.
std::size_t longest_end(const ManifestInput& input) {
  std::size_t longest = kLongestEndOfObjects.size();
  for (const job::TaskSpec& task : input.spec.tasks) {
    const job::TaskId last{task.type, task.slots() - 1};
    if (!input.names.pods.contains(last)) {
      longest = std::max(longest, 1 + host_name(last).size());
    }
  }
  return longest;
}

bool is_ours(std::string_view key) { return key.starts_with("gangrun/") || key == kManagedBy; }

// Labels by which Kueue would take an object that runs nothing for a job.
bool is_for_pods(std::string_view key) { return key.starts_with("kueue.x-k8s.io/"); }

base::Error invalid(const std::string& field, const std::string& text) {
  return base::invalid_argument(base::format("{}: {}", field, text));
}

Result<> check_key(const std::string& key, const std::string& field) {
  if (is_ours(key)) return invalid(field, base::format("{} is set by gangrun", key));
  if (is_label_key(key)) return {};
  return invalid(field,
                 base::format("{} is not a key of Kubernetes; allowed: at most {} letters, digits, "
                              "'-', '_' or '.', before it a domain and '/' or nothing",
                              job::in_quotes(key), kMaxLabelBytes));
}

// The job's name is cut as far as it goes, so it is the type that is too long.
Result<> check_too_long(const std::string& name, const char* kind, const std::string& field) {
  if (name.size() <= kMaxLabelBytes) return {};
  return invalid(
      field, base::format("is too long for Kubernetes by {}: the {} {} would have {} "
                          "characters, at most {} are allowed",
                          name.size() - kMaxLabelBytes, kind, name, name.size(), kMaxLabelBytes));
}

Result<> check_pod_names(const ManifestInput& input) {
  std::map<std::string, job::TaskId> taken;
  for (const job::TaskId& task : input.spec.task_ids()) {
    const std::string name = pod_name(input, task);
    GANGRUN_TRY(check_too_long(name, "pod",
                               input.names.pods.contains(task) ? "name" : "tasks." + task.type));
    if (!is_dns_label(name)) {
      return invalid("name", base::format("{} cannot be the name of a pod; allowed: small letters, "
                                          "digits and '-'",
                                          job::in_quotes(name)));
    }
    const auto [other, is_new] = taken.emplace(name, task);
    if (is_new) continue;
    return invalid("tasks", base::format("{} and {} would have pods of one name, {}",
                                         to_string(other->second), to_string(task), name));
  }
  return {};
}

Result<> check_ports(const ManifestInput& input) {
  for (const job::TaskSpec& task : input.spec.tasks) {
    if (input.names.first_port > 0 && input.names.first_port + task.ports.count - 1 <=
                                          std::numeric_limits<std::uint16_t>::max()) {
      continue;
    }
    return invalid(
        base::format("tasks.{}.ports", task.type),
        base::format("{} ports from {} on do not exist", task.ports.count, input.names.first_port));
  }
  return {};
}

}  // namespace

bool is_label_key(std::string_view text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos) return is_word(text);
  const std::string_view domain = text.substr(0, slash);
  const std::vector<std::string> steps = base::split(domain, '.');
  return domain.size() <= kMaxDomainBytes && std::ranges::all_of(steps, is_dns_label) &&
         is_word(text.substr(slash + 1));
}

bool is_label_value(std::string_view text) {
  const auto fits = [](char c) {
    return base::is_letter_or_digit(c) || c == '-' || c == '_' || c == '.';
  };
  return text.empty() || (text.size() <= kMaxLabelBytes && base::is_letter_or_digit(text.front()) &&
                          base::is_letter_or_digit(text.back()) && std::ranges::all_of(text, fits));
}

// Cuts the beginning of a long name as far as it must: the end of an id tells jobs apart.
std::string job_name(const ManifestInput& input) {
  std::string name = as_dns(input.job_id);
  // A service's name begins with a letter.
  if (name.empty() || !base::is_small_letter(name.front())) name = "job-" + name;
  const std::size_t room = kMaxLabelBytes - std::min(kMaxLabelBytes, longest_end(input));
  if (name.size() <= room) return name;
  const std::string end = name.substr(name.size() - std::min(name.size(), kIdTagBytes));
  name.resize(std::max<std::size_t>(room, end.size() + 1) - end.size());
  while (name.size() > 1 && name.back() == '-') name.pop_back();
  return name + end;
}

std::string owner_name(const ManifestInput& input) {
  return base::format("{}-{}", job_name(input), kLeaseOwner);
}

std::string owner_path(const ManifestInput& input) {
  return base::format("/apis/batch/v1/namespaces/{}/jobs/{}", input.name_space, owner_name(input));
}

std::string secret_name(const ManifestInput& input) { return job_name(input) + "-secrets"; }

std::string agent_secret_name(const ManifestInput& input) { return job_name(input) + "-agent"; }

std::string relay_name(const ManifestInput& input) { return job_name(input) + "-relay"; }

std::string config_map_name(const ManifestInput& input, std::size_t index) {
  return base::format("{}-files-{}", job_name(input), index);
}

std::string hosts_name(const ManifestInput& input) { return job_name(input) + "-hosts"; }

std::string host_name(const job::TaskId& task) {
  return as_dns(base::format("{}-{}", task.type, task.index));
}

std::string pod_name(const ManifestInput& input, const job::TaskId& task) {
  if (task == kRelayTask) return relay_name(input);
  const auto own = input.names.pods.find(task);
  if (own != input.names.pods.end()) return own->second;
  return base::format("{}-{}", job_name(input), host_name(task));
}

job::Address address_of(const ManifestInput& input, const job::TaskId& task) {
  if (input.names.has_service_per_task) return {pod_name(input, task), input.names.first_port};
  return {base::format("{}.{}.{}.svc", host_name(task), job_name(input), input.name_space),
          input.names.first_port};
}

Json owner_reference(const Owner& owner) {
  return {{"apiVersion", "batch/v1"}, {"kind", "Job"},       {"name", owner.name},
          {"uid", owner.uid},         {"controller", false}, {"blockOwnerDeletion", false}};
}

Json metadata_of(const ManifestInput& input, const std::string& name, const Owner* owner) {
  Json labels = {{kJobLabel, input.job_id}, {kManagedBy, "gangrun"}};
  for (const auto& [key, value] : kubernetes_of(input.spec).labels) {
    if (!is_for_pods(key)) labels[key] = value;
  }
  Json metadata = {{"name", name}, {"namespace", input.name_space}, {"labels", std::move(labels)}};
  if (owner != nullptr) metadata["ownerReferences"].push_back(owner_reference(*owner));
  return metadata;
}

Json object_of(const ManifestInput& input, std::string_view version, std::string_view kind,
               const std::string& name, const Owner& owner) {
  return {{"apiVersion", version}, {"kind", kind}, {"metadata", metadata_of(input, name, &owner)}};
}

Result<> check_labels(const Json& labels, const std::string& field) {
  for (const auto& [key, value] : labels.items()) {
    const std::string own_field = base::format("{}.{}", field, key);
    GANGRUN_TRY(check_key(key, own_field));
    if (value.is_string() && is_label_value(value.get_ref<const std::string&>())) continue;
    return invalid(own_field,
                   base::format("{} is not the value of a label; allowed: at most {} letters, "
                                "digits, '-', '_' or '.', a letter or digit at both ends",
                                base::dump_json(value), kMaxLabelBytes));
  }
  return {};
}

Result<> check_annotations(const Json& annotations, const std::string& field) {
  for (const auto& [key, value] : annotations.items()) {
    const std::string own_field = base::format("{}.{}", field, key);
    GANGRUN_TRY(check_key(key, own_field));
    if (!value.is_string()) return invalid(own_field, "is not a text");
  }
  return {};
}

Result<> check_names(const ManifestInput& input) {
  const KubernetesOptions& options = kubernetes_of(input.spec);
  GANGRUN_TRY(check_pod_names(input));
  GANGRUN_TRY(check_ports(input));
  GANGRUN_TRY(check_labels(options.labels, "kubernetes.labels"));
  GANGRUN_TRY(check_annotations(options.annotations, "kubernetes.annotations"));
  return check_labels(options.node_selector, "kubernetes.node_selector");
}

}  // namespace gangrun::kubernetes::pods
