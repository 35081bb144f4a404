#pragma once

#include <vector>

#include "client/context.h"
#include "cluster/check.h"

namespace gangrun::local::commands {

// Looks at everything that jobs of this machine need; some seconds at most. Leaves nothing behind.
std::vector<cluster::Check> check_this_machine(const client::Context& context);

}  // namespace gangrun::local::commands
