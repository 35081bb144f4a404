#pragma once

#include <string_view>
#include <vector>

#include "base/json.h"
#include "client/style.h"
#include "cluster/check.h"

namespace gangrun::client {

// `place` in words: "this machine". Checks that are not whole do not tell that jobs can run.
Lines checks_lines(const std::vector<cluster::Check>& checks, std::string_view place,
                   std::size_t width, bool is_whole = true);
base::Json checks_json(const std::vector<cluster::Check>& checks, bool is_whole = true);

}  // namespace gangrun::client
