#pragma once

#include <string>
#include <vector>

#include "client/context.h"

namespace gangrun::cli {

// The whole command line: `arguments` without the program's name. Output that could not be written
// makes a success kFailed, and is told in one sentence.
client::ExitStatus run_command_line(const std::vector<std::string>& arguments,
                                    client::Context& context);

}  // namespace gangrun::cli
