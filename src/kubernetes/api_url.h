#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gangrun::kubernetes {

// In their order; names may come several times, as in an exec's "command".
using Query = std::vector<std::pair<std::string, std::string>>;

// The target in the request line: `prefix` (of a server that is behind a path, encoded, "" for
// none), then `path` and `query`, encoded here.
std::string api_target(std::string_view prefix, std::string_view path, const Query& query);

// "/api/v1/namespaces/NAME_SPACE/pods/POD/log"; not encoded.
std::string pod_path(std::string_view name_space, std::string_view pod, std::string_view part);

}  // namespace gangrun::kubernetes
