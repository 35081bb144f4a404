#pragma once

#include <memory>

#include "base/log.h"
#include "base/result.h"
#include "client/context.h"
#include "kubernetes/access.h"
#include "kubernetes/client.h"
#include "kubernetes/pods/kubernetes_options.h"
#include "net/event_loop.h"

namespace gangrun::kubernetes::commands {

// The way to the cluster that the job names, or that kubectl would take here.
base::Result<kubernetes::Access> kubernetes_access(const client::Context& context,
                                                   const pods::KubernetesOptions& options);

// Runs credential plugins as kubectl does: their errors and questions are seen on our standard
// error.
kubernetes::PluginRunner plugin_runner();

// A client there. `loop` and `logger` outlive it.
base::Result<std::unique_ptr<kubernetes::Client>> kubernetes_client(
    net::EventLoop& loop, base::Logger& logger, const client::Context& context,
    const pods::KubernetesOptions& options);

}  // namespace gangrun::kubernetes::commands
