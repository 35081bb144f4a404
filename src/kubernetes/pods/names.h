#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/json.h"
#include "base/result.h"
#include "kubernetes/api_url.h"
#include "kubernetes/pods/manifests.h"

// The names of a job's objects, and the metadata that all have.
namespace gangrun::kubernetes::pods {

// The bytes by which a job's id is longer than its name: time and digits, with the dash before
// them.
inline constexpr std::size_t kIdTagBytes = sizeof("-20260131-120000-3fa1") - 1;

// The label of all that gangrun makes.
inline constexpr std::string_view kManagedBy = "app.kubernetes.io/managed-by";

// With or without a prefix: "app", "example.com/app".
[[nodiscard]] bool is_label_key(std::string_view text);
// Letters, digits and '-', '_' or '.' between them, or nothing.
[[nodiscard]] bool is_label_value(std::string_view text);

// The job's id as Kubernetes can name things: what all names begin with, and the name of the one
// headless service and of what its gang is scheduled by.
std::string job_name(const ManifestInput& input);
std::string owner_name(const ManifestInput& input);
// At the API server.
std::string owner_path(const ManifestInput& input);
std::string secret_name(const ManifestInput& input);
std::string agent_secret_name(const ManifestInput& input);
std::string relay_name(const ManifestInput& input);
std::string config_map_name(const ManifestInput& input, std::size_t index);
std::string hosts_name(const ManifestInput& input);
std::string host_name(const job::TaskId& task);
std::string pod_name(const ManifestInput& input, const job::TaskId& task);
job::Address address_of(const ManifestInput& input, const job::TaskId& task);

// An entry of metadata.ownerReferences.
base::Json owner_reference(const Owner& owner);
// Name, namespace, the job's labels and the user's; `owner` is null for the owner itself.
base::Json metadata_of(const ManifestInput& input, const std::string& name, const Owner* owner);

// The beginning of an object that the owner owns: apiVersion, kind and metadata.
base::Json object_of(const ManifestInput& input, std::string_view version, std::string_view kind,
                     const std::string& name, const Owner& owner);

// Labels and annotations that Kubernetes takes and that are not ours: for those of `field`.
base::Result<> check_labels(const base::Json& labels, const std::string& field);
base::Result<> check_annotations(const base::Json& annotations, const std::string& field);
// Names that are too long or clash, ports that are none, labels that Kubernetes would refuse.
base::Result<> check_names(const ManifestInput& input);

}  // namespace gangrun::kubernetes::pods
