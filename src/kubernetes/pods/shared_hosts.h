#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"

// The tasks' addresses stand in variables of every pod: of a thousand tasks 100 KB in each of a
// thousand pods, which the API server would store, and send again with every change of one. So
// long lists stand once, in a config map, and the pods refer to it.
namespace gangrun::kubernetes::pods {

struct ManifestInput;
struct Owner;

// A shorter list stands in the pods, where it is easier to read.
inline constexpr std::size_t kShortestSharedHosts = std::size_t{2} << 10U;

// All addresses of a type, in one of the forms that variables have them in.
struct SharedHosts {
  std::string variable;  // what a container finds them by; their key in the config map
  std::string text;
};

std::vector<SharedHosts> shared_hosts(const ManifestInput& input);

// None where there are none.
std::optional<base::Json> hosts_config_map(const ManifestInput& input,
                                           const std::vector<SharedHosts>& hosts,
                                           const Owner& owner);

// A container's `env`. `variables`: a list of it, with values as Kubernetes reads them; those that
// contain shared hosts refer to them, after these, as Kubernetes wants it.
base::Json refer_to_hosts(const ManifestInput& input, const std::vector<SharedHosts>& hosts,
                          base::Json variables);

}  // namespace gangrun::kubernetes::pods
