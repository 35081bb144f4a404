#pragma once

#include "base/result.h"
#include "cluster/ssh/keeper_messages.h"
#include "cluster/ssh/node/keeper.h"

namespace gangrun::node {

// What this host says of itself. An error: it cannot have tasks of the job, and why.
base::Result<cluster::HelloMessage> hello_of(const KeeperOptions& options);

}  // namespace gangrun::node
