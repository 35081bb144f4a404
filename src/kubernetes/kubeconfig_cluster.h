#pragma once

#include "base/json.h"
#include "base/result.h"
#include "kubernetes/access.h"
#include "kubernetes/kubeconfig_section.h"
#include "net/call.h"

namespace gangrun::kubernetes {

// The address of a cluster of a kubeconfig, and who vouches for it. Nothing of the environment's
// proxies.
base::Result<net::RemoteOptions> read_cluster(const Section& cluster, bool allows_insecure,
                                              const Surroundings& surroundings);

// The settings there for credential plugins; null: none.
base::Result<base::Json> read_plugin_config(const Section& cluster);

}  // namespace gangrun::kubernetes
