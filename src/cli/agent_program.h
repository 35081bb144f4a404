#pragma once

#include <string>

#include "base/result.h"
#include "cli/context.h"

namespace gangrun::cli {

// The path of gangrun-agent: $GANGRUN_AGENT, else beside gangrun, else in ../libexec. The error
// names the places.
base::Result<std::string> find_agent(const Context& context);

// The same, for a job: an agent of another version is an error that names both versions.
base::Result<std::string> find_agent_of_this_version(const Context& context);

// What `gangrun-agent --version` prints; an error where it does not run.
base::Result<std::string> agent_version(const std::string& program, base::Instant deadline);

}  // namespace gangrun::cli
