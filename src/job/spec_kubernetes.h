#pragma once

#include "base/json.h"
#include "base/result.h"
#include "job/spec_field.h"

// What only Kubernetes is told; the table of its fields is in spec_kubernetes.cc.
namespace gangrun::job {

// A pod, or a part of one, as a map.
base::Result<> read_pod(const Field& field, base::Json& pod);

}  // namespace gangrun::job
