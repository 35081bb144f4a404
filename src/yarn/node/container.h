#pragma once

#include <string>

#include "base/log.h"
#include "base/result.h"
#include "hadoop/credentials.h"
#include "job/last_words.h"
#include "wire/agent_config.h"

// The environment and the folder that a program finds when YARN has started it in a container.
namespace gangrun::yarn::node {

// From the file that HADOOP_TOKEN_FILE_LOCATION names.
base::Result<hadoop::Credentials> container_credentials();

// The configuration of the agent in this container, with what only the container knows: its
// folders.
base::Result<wire::AgentConfig> agent_config_of_container();

// Makes the container what the user's command expects: the user's files are in its folder, modules
// beside them can be imported, a Java virtual machine that is loaded as a library finds itself and
// Hadoop, and of the credentials those are left that the user's command may use.
base::Result<> prepare_container(base::Logger& logger);

// Writes the last words of an agent that ends by itself, as a line on standard error: the
// NodeManager tells the end of that to the job's master.
void leave_words_in_container(job::LastWords words);

}  // namespace gangrun::yarn::node
