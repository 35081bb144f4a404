#pragma once

#include <map>
#include <string>

#include "base/result.h"
#include "cluster/ssh/keeper_messages.h"
#include "cluster/ssh/node/keeper.h"

namespace gangrun::node {

// What this host says of itself. An error: it cannot have tasks of the job, and why.
base::Result<cluster::HelloMessage> hello_of(const KeeperOptions& options);

// What the agents of a job find: what ssh told of its connection goes, and `more` comes. While
// there is one thread.
void set_environment(const std::map<std::string, std::string>& more);

}  // namespace gangrun::node
