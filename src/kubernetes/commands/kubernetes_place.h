#pragma once

#include <memory>

#include "client/command.h"
#include "client/place.h"

namespace gangrun::kubernetes::commands {

// The Kubernetes cluster of the kubeconfig.
client::Place kubernetes_place();

client::Command tf_spawner_command();

}  // namespace gangrun::kubernetes::commands
