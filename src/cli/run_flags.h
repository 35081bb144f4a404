#pragma once

#include "client/place.h"
#include "client/run_options.h"

namespace CLI {  // NOLINT(readability-identifier-naming): the library's name
class App;
}  // namespace CLI

namespace gangrun::cli {

// The flags of commands that start a job. The options outlive the command.
void add_run_flags(CLI::App& command, client::RunOptions& options, const client::Places& places);

}  // namespace gangrun::cli
