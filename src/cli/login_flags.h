#pragma once

#include <optional>
#include <string>
#include <vector>

namespace CLI {  // NOLINT(readability-identifier-naming): the library's name
class App;
}  // namespace CLI

namespace gangrun::cli {

// How a job comes to a secured cluster, in the same words for all commands that submit one.
void add_login_flags(CLI::App& command, std::vector<std::string>& file_systems,
                     std::optional<std::string>& principal, std::optional<std::string>& keytab,
                     std::optional<std::string>& as);

}  // namespace gangrun::cli
