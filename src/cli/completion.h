#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "client/command.h"

namespace gangrun::cli {

std::vector<std::string> completion_shells();

// A script that the shell loads: it completes commands, flags, their choices, files, folders,
// the jobs of this machine and their tasks.
base::Result<std::string> completion_script(std::string_view shell, const client::Command& program);

}  // namespace gangrun::cli
