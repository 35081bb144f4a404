#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace gangrun::client {

// Bad input: why a path that a flag names cannot be taken.
base::Error refused_path(std::string_view flag, const std::string& value, std::string_view why);

// Whether a file that a flag names (`as_written`) is a regular one at `path` and can be read. An
// error begins with the flag and is bad input.
base::Result<> check_local_file(std::string_view flag, const std::string& as_written,
                                const std::string& path);

// The same of a file or folder, as it is found from `folder`.
base::Result<> check_local_input(std::string_view flag, const std::string& input,
                                 const std::string& folder);

}  // namespace gangrun::client
