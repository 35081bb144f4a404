#pragma once

#include <string>

#include "client/context.h"
#include "client/place.h"

namespace gangrun::yarn::commands {

// The YARN cluster of HADOOP_CONF_DIR.
client::Place yarn_place();

// Gets tokens for a job's master, as it asks in `file`: see cluster::TokenErrand.
client::ExitStatus run_token_errand(const std::string& file, client::Context& context);

}  // namespace gangrun::yarn::commands
