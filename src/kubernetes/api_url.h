#pragma once

#include <cstddef>
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

// The most bytes of a DNS label, and of Kubernetes' own.
inline constexpr std::size_t kMaxLabelBytes = 63;
// A name that can stand in paths: small letters, digits and '-' (neither first nor last).
[[nodiscard]] bool is_dns_label(std::string_view text);

// "/api/v1/namespaces/NAME_SPACE/pods", "/api/v1/namespaces/NAME_SPACE/pods/POD/log"; not encoded.
std::string pods_path(std::string_view name_space);
std::string pod_path(std::string_view name_space, std::string_view pod, std::string_view part);

}  // namespace gangrun::kubernetes
