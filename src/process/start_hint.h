#pragma once

#include <string>

namespace gangrun::process {

// "; use python3 train.py": what starts the file of this name in `folder` that cannot be started by
// the name alone. Empty where there is no such file, or nothing better is known.
[[nodiscard]] std::string start_hint(const std::string& program, const std::string& folder);

}  // namespace gangrun::process
