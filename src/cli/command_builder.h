#pragma once

#include "client/command.h"

namespace CLI {  // NOLINT(readability-identifier-naming): the library's name
class App;
}  // namespace CLI

namespace gangrun::cli {

// Has the library read the words and flags of a command. What stays unset was not given; of a value
// that is given twice the last counts, and a list has one for each time.
void add_arguments(CLI::App& app, const client::Command& command);

}  // namespace gangrun::cli
