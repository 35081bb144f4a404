#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "job/spec.h"

namespace gangrun::job {

// "h1" or "h1:2", as a job file and --hosts have it.
std::string to_string(const Host& host);

// The inverse, of at least one; names are checked by find_problem().
base::Result<std::vector<Host>> hosts_from(const std::vector<std::string>& texts);

}  // namespace gangrun::job
