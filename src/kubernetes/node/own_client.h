#pragma once

#include <memory>

#include "base/log.h"
#include "base/result.h"
#include "kubernetes/client.h"
#include "net/event_loop.h"

namespace gangrun::kubernetes::node {

// A client by the pod's own service account; nobody's kubeconfig has a say. Both outlive the
// result.
base::Result<std::unique_ptr<kubernetes::Client>> client_of_pod(net::EventLoop& loop,
                                                                base::Logger& logger);

}  // namespace gangrun::kubernetes::node
