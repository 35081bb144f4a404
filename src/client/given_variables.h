#pragma once

#include <map>
#include <string>

#include "base/result.h"
#include "client/run_options.h"

namespace gangrun::client {

// Makes `-e NAME=VALUE` of what `-e NAME` and `--env-file FILE` say: a name without a value has
// that of `environment` (of the caller); the lines of a file come first, so that flags win. A file
// has the form of the container engines' one: NAME=VALUE or NAME, a line each, the value unchanged;
// empty lines and those that begin with # are nothing. Relative paths begin in `folder`.
base::Result<> settle_variables(RunOptions& options,
                                const std::map<std::string, std::string>& environment,
                                const std::string& folder);

}  // namespace gangrun::client
