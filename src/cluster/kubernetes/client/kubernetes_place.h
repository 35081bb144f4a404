#pragma once

#include <memory>

#include "client/place.h"

namespace gangrun::client {

// The Kubernetes cluster of the kubeconfig.
std::unique_ptr<Place> kubernetes_place();

}  // namespace gangrun::client
