#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "client/context.h"

namespace gangrun::cli {

// Whether a file that a flag names (`as_written`) is a regular one at `path` and can be read. An
// error begins with the flag and is bad input.
base::Result<> check_local_file(std::string_view flag, const std::string& as_written,
                                const std::string& path);

// Whether what a flag names can be read by this user: a file or folder of this machine, or, by its
// URL, of a cluster's file system, which is asked. Other URLs are taken as they are.
base::Result<> check_input(std::string_view flag, const std::string& input,
                           const client::Context& context);

}  // namespace gangrun::cli
