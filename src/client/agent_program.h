#pragma once

#include <string>

#include "base/result.h"
#include "client/context.h"
#include "cluster/check.h"

namespace gangrun::client {

// The path of gangrun-agent: $GANGRUN_AGENT, else beside gangrun, else in ../libexec. The error
// names the places.
base::Result<std::string> find_agent(const Context& context);

// The same, for a job: an agent of another version is an error that names both versions.
base::Result<std::string> find_agent_of_this_version(const Context& context);

// The output of `gangrun-agent --version`; an error if it does not run.
base::Result<std::string> agent_version(const std::string& program, base::Instant deadline);

// Whether gangrun-agent is there, of this version, and runs.
cluster::Check check_agent(const Context& context);

}  // namespace gangrun::client
