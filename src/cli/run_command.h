#pragma once

#include "client/context.h"
#include "client/run_options.h"

namespace gangrun::cli {

// What `gangrun run` does, also for the commands that take a job in other words.
client::ExitStatus run(client::RunOptions options, client::Context& context);

}  // namespace gangrun::cli
