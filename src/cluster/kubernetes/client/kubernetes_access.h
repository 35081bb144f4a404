#pragma once

#include <memory>

#include "base/log.h"
#include "base/result.h"
#include "client/context.h"
#include "cluster/kubernetes/kubernetes_options.h"
#include "job/spec.h"
#include "kubernetes/access.h"
#include "kubernetes/client.h"
#include "net/event_loop.h"

namespace gangrun::client {

// The way to the cluster that the job names, or that kubectl would take here.
base::Result<kubernetes::Access> kubernetes_access(const Context& context,
                                                   const cluster::KubernetesOptions& options);

// Runs credential plugins as kubectl does: their errors and questions are seen on our standard
// error.
kubernetes::PluginRunner plugin_runner();

// A client there. `loop` and `logger` outlive it.
base::Result<std::unique_ptr<kubernetes::Client>> kubernetes_client(
    net::EventLoop& loop, base::Logger& logger, const Context& context,
    const cluster::KubernetesOptions& options);

}  // namespace gangrun::client
