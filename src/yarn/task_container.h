#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "hadoop/configuration.h"
#include "hadoop/records.h"
#include "job/spec.h"
#include "yarn/yarn_options.h"

// The container of a task: what it is given, what runs its image, and what becomes of its folder.
namespace gangrun::yarn {

// The memory of a task that names none: YARN has no container without a limit.
inline constexpr std::int64_t kDefaultMemoryMib = 1024;

inline constexpr const char* kGpuResource = "yarn.io/gpu";

hadoop::Resource resource_of(const job::Resources& resources);

// The runtime of the images of the job: kDocker, YARN itself (Hadoop's "Launching Applications
// Using Docker Containers"; the agent is then inside, and starts the task as it does anywhere), or
// kNone, the agents by their node's engine.
ContainerRuntime container_runtime_of(const job::JobSpec& spec,
                                      const hadoop::Configuration& configuration);

// They tell YARN that a container is to run in `image`.
std::map<std::string, std::string> runtime_variables(const job::JobSpec& spec,
                                                     const std::string& image);

// The folder in which the job's tasks work, and what becomes of their files there. `outputs` is the
// URL of the folder for what the job names as its outputs.
std::string where_containers_work(const job::JobSpec& spec, const std::string& outputs);
bool has_outputs(const job::JobSpec& spec);

}  // namespace gangrun::yarn
