#pragma once

#include <vector>

#include "client/context.h"
#include "cluster/check.h"

namespace gangrun::client {

// Looks at everything that jobs of this machine need; some seconds at most. Leaves nothing behind.
std::vector<cluster::Check> check_this_machine(const Context& context);

}  // namespace gangrun::client
