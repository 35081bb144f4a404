#pragma once

#include <map>
#include <string>

#include "hadoop/configuration.h"
#include "job/spec.h"
#include "yarn/yarn_options.h"

// YARN's own way to run a container in an image (Hadoop's "Launching Applications Using Docker
// Containers"): the agent is then inside, and starts the task as it does anywhere.
namespace gangrun::yarn {

// The runtime of the images of the job: kDocker, YARN itself, or kNone, the agents by their node's
// engine.
ContainerRuntime container_runtime_of(const job::JobSpec& spec,
                                      const hadoop::Configuration& configuration);

// By which YARN knows that a container is to run in `image`.
std::map<std::string, std::string> runtime_variables(const job::JobSpec& spec,
                                                     const std::string& image);

}  // namespace gangrun::yarn
