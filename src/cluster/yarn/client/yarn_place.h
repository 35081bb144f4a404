#pragma once

#include <memory>
#include <string>

#include "client/command.h"
#include "client/place.h"
#include "job/place.h"

namespace gangrun::client {

// The YARN cluster of HADOOP_CONF_DIR.
std::unique_ptr<Place> yarn_place();

Command ytf_submit_command(const job::Places& places);
Command check_hadoop_env_command();

// Gets tokens for a job's master, as it asks in `file`: see cluster::TokenErrand.
ExitStatus run_token_errand(const std::string& file, Context& context);

}  // namespace gangrun::client
