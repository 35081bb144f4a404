#pragma once

#include <memory>

#include "client/command.h"
#include "client/place.h"

namespace gangrun::client {

// The Kubernetes cluster of the kubeconfig.
std::unique_ptr<Place> kubernetes_place();

Command tf_spawner_command();

}  // namespace gangrun::client
