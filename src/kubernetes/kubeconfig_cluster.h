#pragma once

#include "base/json.h"
#include "base/result.h"
#include "kubernetes/access.h"
#include "kubernetes/kubeconfig_section.h"
#include "net/call.h"

namespace gangrun::kubernetes {

// Where a cluster of a kubeconfig is and who vouches for it. Of the environment's proxies nothing.
base::Result<net::RemoteOptions> read_cluster(const Section& cluster, bool allows_insecure,
                                              const Surroundings& surroundings);

// What stands there for credential plugins beside; null: nothing.
base::Result<base::Json> read_plugin_config(const Section& cluster);

}  // namespace gangrun::kubernetes
