#pragma once

#include "base/result.h"
#include "client/run_options.h"

namespace CLI {  // NOLINT(readability-identifier-naming): the library's name
class App;
}  // namespace CLI

namespace gangrun::cli {

// The flags of every command that shows a running job.
void add_display_flags(CLI::App& command, client::DisplayOptions& options);
// Whether what was asked for goes together.
base::Result<> check_display(const client::DisplayOptions& options);

}  // namespace gangrun::cli
