#pragma once

#include <map>
#include <string>

#include "base/result.h"
#include "ssh/keeper_messages.h"
#include "ssh/node/keeper.h"

namespace gangrun::ssh::node {

// The facts about this host. An error: it cannot have tasks of the job, and why.
base::Result<ssh::HelloMessage> hello_of(const KeeperOptions& options);

// The variables that the agents of a job find: those of ssh's connection go, and `more` comes.
// While there is one thread.
void set_environment(const std::map<std::string, std::string>& more);

}  // namespace gangrun::ssh::node
