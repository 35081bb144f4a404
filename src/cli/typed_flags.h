#pragma once

#include <map>
#include <string>
#include <vector>

#include "client/command.h"

namespace gangrun::cli {

// The flags that are among the words of a command under one of their names only: each other name,
// as errors may have it, with the one that the user has typed ("--tail" and "-n").
std::map<std::string, std::string> typed_flags(const client::Command& command,
                                               const std::vector<std::string>& words);

}  // namespace gangrun::cli
