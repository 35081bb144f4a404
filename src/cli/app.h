#pragma once

#include <string>
#include <vector>

#include "cli/context.h"

namespace gangrun::cli {

// The whole command line: `arguments` without the program's name. Output that could not be written
// makes a success kFailed, and is told in one sentence.
ExitStatus run_command_line(const std::vector<std::string>& arguments, Context& context);

}  // namespace gangrun::cli
