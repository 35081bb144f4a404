#pragma once

#include <string_view>
#include <vector>

#include "base/json.h"
#include "cli/context.h"
#include "cli/style.h"
#include "cluster/check.h"

namespace gangrun::cli {

// Looks at everything that jobs of this machine need; some seconds at most. Leaves nothing behind.
std::vector<cluster::Check> check_this_machine(const Context& context);

// Whether gangrun-agent is there, of this version, and runs.
cluster::Check check_agent(const Context& context);

// `place` in words: "this machine".
Lines checks_lines(const std::vector<cluster::Check>& checks, std::string_view place,
                   std::size_t width);
base::Json checks_json(const std::vector<cluster::Check>& checks);

}  // namespace gangrun::cli
