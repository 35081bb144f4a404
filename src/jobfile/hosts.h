#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "job/spec.h"

namespace gangrun::jobfile {

// "h1", "h1:2", "fd00::5" or "[fd00::5]:2", as a job file and --hosts have it.
std::string to_string(const job::Host& host);

// The inverse, of at least one; names are checked by find_problem().
base::Result<std::vector<job::Host>> hosts_from(const std::vector<std::string>& texts);

[[nodiscard]] bool is_ipv6_address(const std::string& text);
// A name that DNS or a file of hosts may have, or an address.
base::Result<> check_host_name(const std::string& name);

}  // namespace gangrun::jobfile
