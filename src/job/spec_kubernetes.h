#pragma once

#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "job/spec.h"
#include "job/spec_field.h"

// The `kubernetes` of a job file, from it and back.
namespace gangrun::job {

base::Result<> read_kubernetes(const Field& field, KubernetesOptions& kubernetes);

// A pod, or a part of one, as a map.
base::Result<> read_pod(const Field& field, base::Json& pod);

std::vector<std::string> kubernetes_keys();

// What differs from the defaults, in the order of the keys.
base::Json to_json(const KubernetesOptions& kubernetes);

}  // namespace gangrun::job
