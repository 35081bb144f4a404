#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "client/context.h"
#include "client/run_options.h"
#include "yarn/commands/hadoop_access.h"

namespace gangrun::yarn::commands {

struct YarnSessionOptions {
  bool ours = false;  // Ctrl-C ends it as on one machine; else Ctrl-C leaves and the job goes on
  // So long it may wait for a place of its master; none: as long as YARN lets it.
  std::optional<std::chrono::milliseconds> allocation_limit{};
};

// Shows a job on YARN as `run` does, from its beginning, until it ends.
client::ExitStatus show_yarn_job(const HadoopAccess& access, const std::string& id,
                                 const YarnSessionOptions& options,
                                 const client::DisplayOptions& display, client::Context& context);

}  // namespace gangrun::yarn::commands
