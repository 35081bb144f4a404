#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "client/command.h"

namespace CLI {  // NOLINT(readability-identifier-naming): the library's name
class App;
}  // namespace CLI

namespace gangrun::cli {

// Has the library read the words and flags of a command. What stays unset was not given; of a value
// that is given twice the last counts, and a list has one for each time.
void add_arguments(CLI::App& app, const client::Command& command);

// The words behind a command's name, as the library reads them rightly: for an empty value, as in
// "--output= --dry-run", it would take the next word. An error: a switch that is given a value, or
// another flag in the place of a value.
base::Result<std::vector<std::string>> clear_words(const client::Command& command,
                                                   const std::vector<std::string>& words);

// Gives the words behind "--", which are no flags whatever they look like, to the words of the
// command that the library has read no value for. An error: there are too many, or one is missing.
base::Result<> take_words(const CLI::App& app, const client::Command& command,
                          const std::vector<std::string>& behind);

}  // namespace gangrun::cli
