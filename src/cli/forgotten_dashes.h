#pragma once

#include <optional>
#include <string>
#include <vector>

#include "client/command.h"

namespace gangrun::cli {

// "gangrun run -r worker:2 -- python3 x.py": what was meant by these arguments, which have no "--",
// where the tasks' command begins at `unknown`, the word that was not understood, or before it.
std::optional<std::string> line_with_dashes(const client::Command& run,
                                            const std::vector<std::string>& arguments,
                                            const std::string& unknown);

}  // namespace gangrun::cli
