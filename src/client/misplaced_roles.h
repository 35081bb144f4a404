#pragma once

#include <optional>
#include <string>
#include <vector>

namespace gangrun::client {

// "-r ps:1,worker:2" where these words of `gangrun run` are types of tasks and their numbers, which
// some launchers take without a flag; none where one of them is something else.
std::optional<std::string> meant_as_roles(const std::vector<std::string>& words);

}  // namespace gangrun::client
