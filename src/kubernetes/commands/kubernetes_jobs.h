#pragma once

#include <memory>

#include "client/place.h"

namespace gangrun::kubernetes::commands {

// The jobs on Kubernetes once they have started: those that are led from this machine, and those
// whose master is a pod.
std::shared_ptr<const client::Jobs> kubernetes_jobs();

}  // namespace gangrun::kubernetes::commands
