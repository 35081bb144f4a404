#pragma once

#include <memory>

#include "cli/place.h"

namespace gangrun::cli {

// The Kubernetes cluster of the kubeconfig.
std::unique_ptr<Place> kubernetes_place();

}  // namespace gangrun::cli
