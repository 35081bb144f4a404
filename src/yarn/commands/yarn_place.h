#pragma once

#include <memory>
#include <string>

#include "client/command.h"
#include "client/place.h"
#include "jobfile/place_rules.h"

namespace gangrun::yarn::commands {

// The YARN cluster of HADOOP_CONF_DIR.
client::Place yarn_place();

client::Command ytf_submit_command(const jobfile::RulesOfPlaces& places);
client::Command check_hadoop_env_command();

// Gets tokens for a job's master, as it asks in `file`: see cluster::TokenErrand.
client::ExitStatus run_token_errand(const std::string& file, client::Context& context);

}  // namespace gangrun::yarn::commands
